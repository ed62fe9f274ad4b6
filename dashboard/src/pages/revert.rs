//! The revert of an action: a preview, and a button.

use leptos::prelude::*;
use pennon_core::turns_on::may_turn_on;
use pennon_model::{
    environment::Environment,
    flag::FlagKey,
    id::{AuditId, EnvironmentId},
    plan::{Plan, PlannedChange, PlannedEffect},
};

use super::path_id;
use crate::{
    audit::difference::{Member, changes, effects},
    components::{
        confirm_change::ConfirmedFields,
        effect::{Effect, changes_description},
        frame::Section,
        link_button::LinkButton,
        notice::{Notice, Severity},
        number::counted,
        page::page,
        page_head::PageHead,
        refusal::RefusalNotice,
        time::Time,
        timeline::{Changes, Entry},
    },
    error::AdminError,
    form::Form,
    form_page::{FormState, handle_form, redirect},
    html::{Html, hidden, html},
    model::Naming,
    port::{
        audit::{AuditAdmin, Record, Reversal},
        environments::EnvironmentAdmin,
        signed_in,
    },
    routes,
};

/// The maximum number of changes and of flag configurations on the page.
pub(super) const SHOWN: usize = 20;

/// The preview of a revert, with a form that posts to this page.
#[component]
pub fn Revert() -> impl IntoView {
    let id = path_id::<AuditId>("id");
    page(Section::Audit, "Revert a change · Audit", async move {
        let id = id?;
        let render = async move |state: FormState| {
            let reversal = signed_in::<dyn AuditAdmin>()?.reversal(id).await?;
            let naming = signed_in::<dyn EnvironmentAdmin>()?.naming().await?;
            Ok(view! { <Preview reversal naming state/> })
        };
        handle_form(|form| revert(id, form), render).await
    })
}

async fn revert(id: AuditId, form: Form) -> Result<Html, AdminError> {
    let audit = signed_in::<dyn AuditAdmin>()?;
    let reversal = audit.reversal(id).await?;
    let reverted = audit.revert(id, &form.text("fingerprint")).await;
    reverted.map_err(|error| error.about("in", || "Revert this change".to_owned()))?;
    redirect(&return_address(&reversal.records))
}

/// Returns the page to open after the revert: the history of the flag, or the audit log if there are several.
fn return_address(records: &[Record]) -> String {
    let mut keys = records
        .iter()
        .map(|record| record.entry.flag_key.as_deref());
    match keys.next() {
        Some(Some(key)) if keys.all(|other| other == Some(key)) => routes::flag_history(key),
        _ => routes::AUDIT.to_owned(),
    }
}

#[component]
fn Preview(reversal: Reversal, naming: Naming, state: FormState) -> impl IntoView {
    let Reversal { records, plan } = reversal;
    let back = return_address(&records);
    let at = records.first().map(|record| record.entry.occurred_at);
    let together = (records.len() > 1).then(|| {
        view! {
            <p class="quiet">
                {format!("One action made these {} changes; they are reverted together.", records.len())}
            </p>
        }
    });
    let omitted = omitted(records.len(), "more", "more");
    let entries = records.into_iter().take(SHOWN);
    let entries = entries.map(|record| view! { <Entry record naming/> });
    let entries = entries.collect_view();
    let plan = match plan {
        Ok(plan) => {
            html! { <Planned plan naming verb="Revert".to_owned() back posted=state.form error=state.error/> }
        }
        Err(obstacle) => not_reverted("This cannot be reverted. ", obstacle, back),
    };
    html! {
        <PageHead above=Section::Audit title="Revert a change"/>
        <div class="reversal">
            <section class="panel reversal-part" aria-labelledby="was">
                <h2 id="was">"What changed " {at.map(|at| view! { <Time at/> })}</h2>
                {together}
                {entries}
                {omitted}
            </section>
            {plan}
        </div>
    }
}

/// Renders the reason that a revert is impossible.
pub(super) fn not_reverted(lead: &'static str, obstacle: String, back: String) -> Html {
    html! {
        <Notice severity=Severity::Warning>
            <strong>{lead}</strong>
            {obstacle}
        </Notice>
        <div class="form-actions">
            <LinkButton href=back label="Back to the changes"/>
        </div>
    }
}

/// The changes of a planned revert, and the form that makes them.
#[component]
pub fn Planned(
    /// The plan.
    plan: Plan,
    /// The naming scheme of environments.
    naming: Naming,
    /// The label of the button, without the environment.
    verb: String,
    /// The address of the page to which the form can be left.
    back: String,
    /// The form that was posted.
    posted: Option<Form>,
    /// The error of the form.
    error: Option<AdminError>,
) -> impl IntoView {
    let Plan {
        changes,
        effects,
        overwrites,
        fingerprint,
    } = plan;
    let overwrite_warning = overwrites.then(|| {
        view! {
            <Notice severity=Severity::Warning>
                "It has been changed again since. Reverting discards the later changes, too."
            </Notice>
        }
    });
    let may_turn_on = effects
        .iter()
        .any(|each| may_turn_on(&each.before, &each.after));
    let button = match &*affected_environments(&effects, naming) {
        [] => verb,
        [environment] => format!("{verb} in {environment}"),
        environments => format!("{verb} in {} environments", environments.len()),
    };
    let confirmed = strictest_environment(&effects).map(|environment| {
        view! { <ConfirmedFields environment posted id="reason"/> }
    });
    let several = !is_about_one(&changes);
    let visible = effects
        .into_iter()
        .filter(|each| changes_description(&each.before, &each.after));
    let visible: Vec<_> = visible.collect();
    let rest = other_changes(&changes, &visible, several, naming);
    let omitted = omitted(
        visible.len(),
        "more flag configuration",
        "more flag configurations",
    );
    let visible = visible.into_iter().take(SHOWN);
    let visible = visible.map(|effect| planned_effect(effect, several, naming));
    html! {
        <section class="panel reversal-part" aria-labelledby="will">
            <h2 id="will">"What will change"</h2>
            <RefusalNotice error/>
            {overwrite_warning}
            {visible.collect_view()}
            {omitted}
            {rest}
            <form method="post">
                {hidden("fingerprint", fingerprint)}
                {confirmed}
                <div class="form-actions">
                    <button class="button primary" class:danger=may_turn_on>
                        {button}
                    </button>
                    <LinkButton href=back label="Cancel"/>
                </div>
            </form>
        </section>
    }
}

/// Returns the affected environment whose safeguards demand the most; none if none has any.
fn strictest_environment(effects: &[PlannedEffect]) -> Option<Environment> {
    let environments = effects.iter().map(|each| &each.environment);
    environments
        .filter(|environment| environment.has_safeguards())
        .max_by_key(|environment| environment.is_reason_required)
        .cloned()
}

/// Renders the effect on a flag in an environment, with their names if there are several effects.
fn planned_effect(effect: PlannedEffect, several: bool, naming: Naming) -> Html {
    let PlannedEffect {
        flag,
        environment,
        before,
        after,
        outdated_clients,
    } = effect;
    let heading = several.then(|| {
        let environment = naming.name_of(&environment);
        view! { <h3><code>{before.key.to_string()}</code> " in " {environment}</h3> }
    });
    html! {
        {heading}
        <Effect flag environment=environment.id before after outdated_clients/>
    }
}

/// Returns true if all changes concern the same object.
fn is_about_one(changes: &[PlannedChange]) -> bool {
    let mut objects = changes.iter().map(object_of);
    let first = objects.next();
    objects.all(|object| Some(object) == first)
}

/// Returns the flag and the environment of a change.
fn object_of(change: &PlannedChange) -> (Option<&FlagKey>, Option<EnvironmentId>) {
    let environment = change.environment.as_ref();
    (change.flag.as_ref(), environment.map(|each| each.id))
}

/// Renders the changes that the descriptions of effects do not cover, with the names of their objects if there are
/// several.
fn other_changes(
    changes: &[PlannedChange],
    effects: &[PlannedEffect],
    several: bool,
    naming: Naming,
) -> Html {
    let is_described = described_by(effects);
    let others = changes.iter().filter(|change| !is_described(change));
    let others: Vec<_> = others.collect();
    let omitted = omitted(others.len(), "more change", "more changes");
    let others: Vec<_> = others.into_iter().take(SHOWN).collect();
    let objects = others.chunk_by(|one, next| object_of(one) == object_of(next));
    let objects = objects.map(|changes| {
        let first = changes.first().filter(|_| several);
        let members = changes.iter().map(|change| member_changes(change));
        html! {
            {first.map(|change| heading(change, naming))}
            {members.collect_view()}
        }
    });
    html! {
        {objects.collect_view()}
        {omitted}
    }
}

/// Renders the name of the object of a change.
fn heading(change: &PlannedChange, naming: Naming) -> Html {
    let environment = change.environment.as_ref();
    let environment = environment.map(|environment| naming.name_of(environment));
    match (&change.flag, environment) {
        (None, environment) => html! { <h3>{environment}</h3> },
        (Some(flag), None) => html! { <h3><code>{flag.to_string()}</code></h3> },
        (Some(flag), Some(environment)) => {
            html! { <h3><code>{flag.to_string()}</code> " in " {environment}</h3> }
        }
    }
}

/// Renders the number of items that the page omits, if any, with the word for one or many.
pub(super) fn omitted(
    all: usize,
    one: &'static str,
    many: &'static str,
) -> Option<impl IntoView + use<>> {
    let omitted = all.saturating_sub(SHOWN);
    (omitted > 0).then(|| {
        let omitted = counted(omitted, one, many);
        view! { <p class="quiet">{format!("… and {omitted}.")}</p> }
    })
}

/// Returns the names of the affected environments.
fn affected_environments(effects: &[PlannedEffect], naming: Naming) -> Vec<String> {
    let mut names: Vec<_> = effects
        .iter()
        .map(|each| naming.name_of(&each.environment))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns a predicate for changes that the descriptions of these effects cover: those of switch, rules and rollout.
fn described_by(effects: &[PlannedEffect]) -> impl Fn(&PlannedChange) -> bool + use<> {
    let described = effects
        .iter()
        .map(|each| (each.before.key.clone(), each.environment.id));
    let described: Vec<_> = described.collect();
    move |change| {
        let (Some(flag), Some(environment)) = (&change.flag, &change.environment) else {
            return false;
        };
        let changes_ttl = changes(change.old_value.as_ref(), change.new_value.as_ref())
            .iter()
            .any(|change| change.member == Member::Ttl);
        !changes_ttl
            && described.iter().any(|(key, in_environment)| {
                **key == *flag.as_str() && *in_environment == environment.id
            })
    }
}

/// Renders the modified members of one change.
fn member_changes(change: &PlannedChange) -> Html {
    let effects = effects(
        change.action,
        change.old_value.as_ref(),
        change.new_value.as_ref(),
    );
    html! {
        {effects.into_iter().map(|effect| view! { <p>{effect}</p> }).collect_view()}
        <Changes old=change.old_value.clone() new=change.new_value.clone()/>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_items_are_counted() {
        let text = |all| omitted(all, "more change", "more changes").to_html();
        assert!(!text(SHOWN).contains("more"));
        assert!(text(SHOWN + 1).contains("… and 1 more change."));
        assert!(text(SHOWN + 2).contains("… and 2 more changes."));
    }
}
