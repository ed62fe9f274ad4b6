//! The copy of a configuration to another environment.

use leptos::prelude::*;
use pennon_model::{
    configuration::{Difference, Part, Switch},
    environment::Environment,
    id::EnvironmentId,
};

use super::{Shown, actions::Action, address::Edit, overtaken};
use crate::{
    components::{
        effect::findings, link_button::LinkButton, refusal::RefusalNotice, select::options,
    },
    describe,
    html::{Html, IntoHtml as _, hidden, html, with_code},
    port::flag_page::CopyPreview,
    routes,
};

/// Renders the choice of the environment, then the differences.
pub(super) fn copying(shown: &Shown, environment: &Environment) -> Option<Html> {
    let Edit::Copy(to) = shown.edit else {
        return None;
    };
    let choices = shown
        .detail
        .environments
        .iter()
        .filter(|(place, cell)| place.id != environment.id && cell.is_some());
    let choices = choices.map(|(place, _)| (place.id.to_string(), shown.name_of(place)));
    let chosen = to.map(|to| to.to_string()).unwrap_or_default();
    let stale = shown
        .stale()
        .then(|| overtaken("Nothing was copied. See below what would change now.".to_owned()));
    let error = shown.error().filter(|_| !shown.stale()).cloned();
    let preview = to.zip(shown.preview.as_ref());
    let preview = preview.map(|(to, preview)| confirmation(shown, environment, to, preview));
    // The form keeps the context of the playground, as links do.
    let context = shown.address.context.clone();
    let context = context.map(|context| hidden("context", context));
    let panel = view! {
        <section class="step-editor copy-panel" aria-labelledby="copy-title">
            <h3 id="copy-title">"Copy to another environment"</h3>
            <p class="quiet">
                "Copies the switch, cache, rules and rollout from here. Other environments do not change."
            </p>
            {stale}
            <RefusalNotice error/>
            <form class="copy-choice" method="get" action=routes::flag(&shown.address.key)>
                <input type="hidden" name="environment" value=environment.id.to_string()/>
                <input type="hidden" name="edit" value="copy"/>
                {context}
                <label class="visually-hidden" for="copy-to">
                    "Target environment"
                </label>
                <select class="input" id="copy-to" name="to" autofocus=to.is_none()>
                    {options(choices, &chosen)}
                </select>
                <button class="button">"Preview changes"</button>
                <LinkButton href=shown.address.href() label="Cancel"/>
            </form>
            {preview}
        </section>
    };
    Some(panel.into_html())
}

/// Renders the differences, and the button that copies.
fn confirmation(
    shown: &Shown,
    environment: &Environment,
    to: EnvironmentId,
    preview: &CopyPreview,
) -> Html {
    let mut places = shown.detail.environments.iter().map(|(place, _)| place);
    let name = places.find(|place| place.id == to);
    let name = name.map(|place| shown.name_of(place)).unwrap_or_default();
    if preview.diff.differences.is_empty() {
        return html! {
            <p role="status">{format!("{name} already matches {}: nothing would change.", shown.name_of(environment))}</p>
        };
    }
    let differences = preview.diff.differences.iter().flat_map(lines);
    let warnings = preview.warnings.iter().map(|warning| with_code(warning));
    html! {
        <div class="copy-preview">
            <h4>{format!("Changes in {name}")}</h4>
            <ul class="differences">{differences.collect_view()}</ul>
            {findings(warnings.collect())}
            <form method="post" action=shown.address.editing(shown.edit)>
                {shown.hidden(Action::Copy, Some(preview.diff.from))}
                <input type="hidden" name="to" value=to.to_string()/>
                <input type="hidden" name="to-revision" value=preview.diff.to.to_string()/>
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
            let parts = [("Switch", on(old), on(new)), ("Cache", ttl(old), ttl(new))];
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
            <span class="difference-change">{old} " " {new}</span>
        </li>
    }
}
