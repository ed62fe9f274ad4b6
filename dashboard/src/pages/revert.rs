//! The revert of an action: a preview, and a button.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use pennon_model::{
    id::AuditId,
    reversal::{Plan, PlannedChange, PlannedEffect},
};

use crate::{
    audit_text::{TIME_TO_LIVE, changes, effect},
    components::{
        answer::page,
        effect::{Effect, is_alarming, says_something_else},
        frame::Section,
        link_button::LinkButton,
        notice::{Notice, Weight},
        page_head::PageHead,
        refusal::RefusalNotice,
        time::Time,
        timeline::{Changes, Entry},
    },
    error::AdminError,
    form::Form,
    html::{Html, html},
    model::Naming,
    port::{
        audit::{AuditAdmin, Record, Reversal},
        environments::EnvironmentAdmin,
        signed_in,
    },
    posted::{Typed, posted, redirect},
    routes,
};

/// The maximum number of changes and of flag configurations on the page.
const SHOWN: usize = 20;

/// The preview of a revert, with a form that posts to this page.
#[component]
pub fn Revert() -> impl IntoView {
    let id = use_params_map().read_untracked().get("id");
    page(Section::Audit, "Revert a change · Audit", async move {
        let id = id.and_then(|id| id.parse().ok());
        let id: AuditId = id.ok_or(AdminError::NotFound)?;
        let draw = async move |typed: Typed| {
            let reversal = signed_in::<dyn AuditAdmin>()?.reversal(id).await?;
            let naming = signed_in::<dyn EnvironmentAdmin>()?.naming().await?;
            Ok(view! { <Preview reversal naming refused=typed.error/> })
        };
        posted(|form| revert(id, form), draw).await
    })
}

async fn revert(id: AuditId, form: Form) -> Result<Html, AdminError> {
    let audit = signed_in::<dyn AuditAdmin>()?;
    let reversal = audit.reversal(id).await?;
    audit.revert(id, &form.text("fingerprint")).await?;
    redirect(&afterwards(&reversal.records))
}

/// Returns the page to open after the revert: the history of the flag, or the audit log if there are several.
fn afterwards(records: &[Record]) -> String {
    let mut keys = records
        .iter()
        .map(|record| record.entry.flag_key.as_deref());
    match keys.next() {
        Some(Some(key)) if keys.all(|other| other == Some(key)) => routes::flag_history(key),
        _ => Section::Audit.href().to_owned(),
    }
}

#[component]
fn Preview(reversal: Reversal, naming: Naming, refused: Option<AdminError>) -> impl IntoView {
    let Reversal { records, plan } = reversal;
    let back = afterwards(&records);
    let at = records.first().map(|record| record.entry.occurred_at);
    let together = (records.len() > 1).then(|| {
        view! {
            <p class="quiet">
                {format!("One action made these {} changes; they are reverted together.", records.len())}
            </p>
        }
    });
    let left_out = left_out(records.len(), "more");
    let told = records.into_iter().take(SHOWN);
    let told = told.map(|record| view! { <Entry record naming/> });
    let told = told.collect_view();
    let plan = match plan {
        Ok(plan) => html! { <Planned plan naming back refused/> },
        Err(obstacle) => html! {
            <Notice weight=Weight::Warning>
                <strong>"This cannot be reverted. "</strong>
                {obstacle}
            </Notice>
            <div class="form-actions">
                <LinkButton href=back label="Back to the changes"/>
            </div>
        },
    };
    html! {
        <PageHead above=Section::Audit title="Revert a change"/>
        <div class="reversal">
            <section class="panel reversal-part" aria-labelledby="was">
                <h2 id="was">"What changed " {at.map(|at| view! { <Time at/> })}</h2>
                {together}
                {told}
                {left_out}
            </section>
            {plan}
        </div>
    }
}

#[component]
fn Planned(plan: Plan, naming: Naming, back: String, refused: Option<AdminError>) -> impl IntoView {
    let Plan {
        changes,
        effects,
        overwrites,
        fingerprint,
    } = plan;
    let meanwhile = overwrites.then(|| {
        view! {
            <Notice weight=Weight::Warning>
                "It has been changed again since. Reverting discards the later changes, too."
            </Notice>
        }
    });
    let alarming = effects
        .iter()
        .any(|each| is_alarming(&each.before, &each.after));
    let button = match &*affected_environments(&effects, naming) {
        [] => "Revert".to_owned(),
        [place] => format!("Revert in {place}"),
        places => format!("Revert in {} environments", places.len()),
    };
    let left_out = left_out(effects.len(), "more flag configurations");
    let told = shown_as_sentences(&effects);
    let rest = changes.iter().filter(|change| !told(change)).take(SHOWN);
    let rest = rest.map(member_changes).collect_view();
    let several = effects.len() > 1;
    let effects = effects.into_iter().take(SHOWN).map(|effect| {
        let heading = several.then(|| {
            let place = naming.name_of(&effect.environment);
            view! { <h3><code>{effect.before.key.to_string()}</code> " in " {place}</h3> }
        });
        let says = says_something_else(&effect.before, &effect.after);
        let words = says.then(|| {
            let PlannedEffect {
                flag,
                environment,
                before,
                after,
                outdated_clients,
            } = effect;
            view! { <Effect flag environment=environment.id before after outdated_clients/> }
        });
        html! {
            {heading}
            {words}
        }
    });
    html! {
        <section class="panel reversal-part" aria-labelledby="will">
            <h2 id="will">"What will change"</h2>
            <RefusalNotice error=refused/>
            {meanwhile}
            {effects.collect_view()}
            {left_out}
            {rest}
            <form class="form-actions" method="post">
                <input type="hidden" name="fingerprint" value=fingerprint/>
                <button class="button primary" class:danger=alarming>
                    {button}
                </button>
                <LinkButton href=back label="Cancel"/>
            </form>
        </section>
    }
}

/// Renders the number of items that the page omits, if any.
fn left_out(all: usize, what: &'static str) -> Option<impl IntoView> {
    let left_out = all.saturating_sub(SHOWN);
    (left_out > 0).then(|| view! { <p class="quiet">{format!("… and {left_out} {what}.")}</p> })
}

/// Returns the names of the affected environments.
fn affected_environments(effects: &[PlannedEffect], naming: Naming) -> Vec<String> {
    let mut places: Vec<_> = effects
        .iter()
        .map(|each| naming.name_of(&each.environment))
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Returns a predicate for changes that the descriptions of these effects cover: those of switch, rules and rollout
/// that make a difference.
fn shown_as_sentences(effects: &[PlannedEffect]) -> impl Fn(&PlannedChange) -> bool + use<> {
    let told = effects
        .iter()
        .filter(|each| says_something_else(&each.before, &each.after));
    let told = told.map(|each| (each.before.key.clone(), each.environment.id));
    let told: Vec<_> = told.collect();
    move |change| {
        let (Some(flag), Some(environment)) = (&change.flag, &change.environment) else {
            return false;
        };
        let changes_ttl = changes(change.old_value.as_ref(), change.new_value.as_ref())
            .iter()
            .any(|change| change.name == TIME_TO_LIVE);
        !changes_ttl
            && told
                .iter()
                .any(|(key, place)| **key == *flag.as_str() && *place == environment.id)
    }
}

/// Renders the modified members of one change.
fn member_changes(change: &PlannedChange) -> Html {
    let effect = effect(change.action, change.old_value.as_ref());
    html! {
        {effect.map(|effect| view! { <p>{effect}</p> })}
        <Changes old=change.old_value.clone() new=change.new_value.clone()/>
    }
}
