//! The copy of a configuration to another environment.

use leptos::prelude::*;
use pennon_model::{
    configuration::{ConfigurationPart, Difference, Part, Switch},
    environment::Environment,
    grant::Resource,
    id::EnvironmentId,
};

use super::{PageData, actions::Action, address::Edit};
use crate::{
    components::{
        confirm_change::ConfirmedFields, effect::findings, link_button::LinkButton,
        refusal::RefusalNotice, select::options,
    },
    describe,
    html::{Html, IntoHtml as _, hidden, html, with_code},
    port::flag_page::CopyPreview,
    routes,
    scope::scope_field,
};

/// Renders the choice of the environment, then the differences.
pub(super) fn copying(page: &PageData, environment: &Environment) -> Option<Html> {
    let Edit::Copy(to, part) = page.edit else {
        return None;
    };
    let choices = targets(page, environment.id);
    let choices = choices.map(|other| (other.id.to_string(), page.name_of(other)));
    let chosen = to.map(|to| to.to_string()).unwrap_or_default();
    let preview = to.zip(page.extras.preview.as_ref());
    let stale = page.is_stale().then(|| {
        let next = match preview {
            Some(_) => "See below what would change now.",
            None => "Choose the environment again.",
        };
        page.conflict_notice(format!("Nothing was copied. {next}"))
    });
    let error = page.error().filter(|_| !page.is_stale()).cloned();
    let preview = preview.map(|(to, preview)| confirmation(page, environment, (to, part), preview));
    // The form keeps the context of the playground, as links do.
    let context = page.address.context.clone();
    let context = context.map(|context| hidden("context", context));
    let part_field = part.map(|part| hidden("part", part.to_string()));
    let copied = match part {
        None => "Copies the switch, TTL, rules and rollout from here.",
        Some(ConfigurationPart::Switch) => "Copies only the switch from here.",
        Some(ConfigurationPart::Rules) => "Copies only the rules from here.",
        Some(ConfigurationPart::Rollout) => "Copies only the rollout from here.",
        Some(ConfigurationPart::Ttl) => "Copies only the TTL from here.",
    };
    let panel = view! {
        <section class="step-editor copy-panel" aria-labelledby="copy-title">
            <h3 id="copy-title">"Copy to another environment"</h3>
            <p class="quiet">
                {copied} " Other environments do not change."
            </p>
            {stale}
            <RefusalNotice error/>
            <form class="copy-choice" method="get" action=routes::flag(&page.address.key)>
                {hidden("environment", environment.id.to_string())}
                {hidden("edit", "copy")}
                {part_field}
                {scope_field()}
                {context}
                <label class="visually-hidden" for="copy-to">
                    "Target environment"
                </label>
                <select class="input" id="copy-to" name="to" autofocus=to.is_none()>
                    {options(choices, &chosen)}
                </select>
                <button class="button">"Preview changes"</button>
                <LinkButton href=page.address.href() label="Cancel"/>
            </form>
            {preview}
        </section>
    };
    Some(panel.into_html())
}

/// Returns the environments to which the reader may copy the configuration in an environment.
pub(super) fn targets(page: &PageData, from: EnvironmentId) -> impl Iterator<Item = &Environment> {
    let environments = page.detail.environments.iter();
    let configured = environments.filter(|(_, cell)| cell.is_some());
    let environments = configured.map(|(environment, _)| environment);
    environments.filter(move |environment| {
        environment.id != from && page.user.may_edit(&Resource::of(environment))
    })
}

/// Renders the differences, and the button that copies.
fn confirmation(
    page: &PageData,
    environment: &Environment,
    (to, part): (EnvironmentId, Option<ConfigurationPart>),
    preview: &CopyPreview,
) -> Html {
    let mut environments = page.detail.environments.iter().map(|(each, _)| each);
    let target = environments.find(|each| each.id == to);
    let confirmed = target.cloned().map(|environment| {
        let posted = page.posted_form().cloned();
        view! { <ConfirmedFields environment posted id="reason"/> }
    });
    let name = target
        .map(|target| page.name_of(target))
        .unwrap_or_default();
    if preview.diff.differences.is_empty() {
        return html! {
            <p role="status">{format!("{name} already matches {}: nothing would change.", page.name_of(environment))}</p>
        };
    }
    let differences = preview.diff.differences.iter().flat_map(lines);
    let warnings = preview.warnings.iter().map(|warning| with_code(warning));
    html! {
        <div class="copy-preview">
            <h4>{format!("Changes in {name}")}</h4>
            <ul class="differences">{differences.collect_view()}</ul>
            {findings(warnings.collect())}
            <form method="post" action=page.address.editing(page.edit)>
                {page.hidden(Action::Copy, Some(preview.diff.from))}
                {hidden("to", to.to_string())}
                {part.map(|part| hidden("part", part.to_string()))}
                {hidden("to-revision", preview.diff.to.to_string())}
                {confirmed}
                <button class="button primary">{format!("Copy to {name}")}</button>
            </form>
        </div>
    }
}

/// Renders a difference as lines: switch and TTL get one each.
fn lines(difference: &Difference) -> Vec<Html> {
    match (&difference.old_value, &difference.new_value) {
        (Some(Part::Switch(old)), Some(Part::Switch(new))) => {
            let on = |switch: &Switch| describe::on_off(switch.is_enabled).to_owned();
            let ttl = |switch: &Switch| describe::time_to_live(switch.ttl);
            let parts = [("Switch", on(old), on(new)), ("TTL", ttl(old), ttl(new))];
            let changed = parts.into_iter().filter(|(_, old, new)| old != new);
            changed
                .map(|(what, old, new)| line(what, Some(old), Some(new)))
                .collect()
        }
        (old, new) => {
            let is_rule = |part: &Option<Part>| matches!(part, Some(Part::Rule(_)));
            let what = if is_rule(old) || is_rule(new) {
                "Rule"
            } else {
                "Rollout"
            };
            vec![line(what, old.as_ref().map(text), new.as_ref().map(text))]
        }
    }
}

fn text(part: &Part) -> String {
    match part {
        Part::Switch(switch) => describe::on_off(switch.is_enabled).to_owned(),
        Part::Rule(rule) => describe::rule(rule),
        Part::Rollout(rollout) => describe::rollout(*rollout),
    }
}

/// Renders one difference: the old text struck through, and the new one beside it.
fn line(what: &str, old: Option<String>, new: Option<String>) -> Html {
    let change = match (&old, &new) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let old = old.map(|old| view! { <del>{old}</del> });
    let new = new.map(|new| view! { <ins>{new}</ins> });
    html! {
        <li>
            <span class="difference-what">{format!("{what} {change}")}</span>
            <span>{old} " " {new}</span>
        </li>
    }
}
