//! The steps of the evaluation, in the engine's order: the rules, the rollout, and the rest.

use leptos::prelude::*;
use pennon_model::{configuration::FlagConfiguration, environment::Environment};

use super::{
    PageData,
    actions::{Action, write_expected_rules},
    address::Edit,
    rollout, rules,
};
use crate::{
    components::{icon::Icon, link_button::LinkButton},
    describe,
    html::{Html, IntoHtml as _, hidden, html},
};

/// Renders the list. Its last line states the result without a match. A rollout to nobody is that line.
pub(super) fn steps(
    page: &PageData,
    environment: &Environment,
    current: &FlagConfiguration,
) -> Html {
    let steps = rules::rules(page, current);
    let add = (page.may_edit() && page.edit == Edit::None).then(|| {
        view! {
            <li class="step step-add">
                <LinkButton href=page.address.editing(Edit::NewRule) icon=Icon::PLUS label="Add rule"/>
            </li>
        }
    });
    let rollout = current.rollout.as_ref().map(|rollout| rollout.rollout);
    let rest = (!rollout.is_some_and(rollout::includes_nobody)).then(|| {
        let rest = describe::fallthrough(!current.rules.is_empty(), rollout);
        view! {
            <li class="step step-else">
                <span class="step-mark">"else"</span>
                <p class="step-text">{sentence(&rest)}</p>
            </li>
        }
    });
    html! {
        <p class="path-note">
            {format!(
                "The flag is off in {}, so everyone gets OFF. Once it is on, these steps apply:",
                page.name_of(environment),
            )}
        </p>
        <ol class="path" id="rules" data-unit>
            {steps}
            {add}
            {rollout::rollout(page, current)}
            {rest}
        </ol>
        {order(page, current)}
    }
}

/// Renders a sentence in which ON and OFF stand out.
pub(super) fn sentence(text: &str) -> impl IntoView + use<> {
    let (before, verdict, after) = [" ON", " OFF", "ON ", "OFF "]
        .iter()
        .find_map(|verdict| {
            let edge = if verdict.starts_with(' ') {
                text.strip_suffix(verdict).map(|before| (before, ""))
            } else {
                text.strip_prefix(verdict).map(|after| ("", after))
            };
            edge.map(|(before, after)| (before, verdict.trim(), after))
        })
        .unwrap_or((text, "", ""));
    let class = if verdict == "ON" {
        "verdict on"
    } else {
        "verdict"
    };
    let verdict = (!verdict.is_empty()).then(|| view! { <b class=class>{verdict.to_owned()}</b> });
    view! { {before.to_owned()} " " {verdict} " " {after.to_owned()} }
}

/// Renders the form that reorders the rules, for the buttons in their rows.
fn order(page: &PageData, current: &FlagConfiguration) -> Option<Html> {
    let several = current.rules.len() > 1;
    if !(page.may_edit() && several && page.edit == Edit::None) {
        return None;
    }
    let order: Vec<_> = current
        .rules
        .iter()
        .map(|rule| rule.id.to_string())
        .collect();
    let form = view! {
        <form id="rule-order" method="post" action=page.address.href()>
            {page.hidden(Action::Order, None)}
            {hidden("expected", write_expected_rules(&current.rules))}
            {hidden("order", order.join(" "))}
            <div class="order-bar" hidden>
                <p>"The new order is not saved yet."</p>
                <button class="button primary">"Save order"</button>
                <button class="button" type="button" data-put-back>
                    "Reset order"
                </button>
            </div>
        </form>
    };
    Some(form.into_html())
}
