//! The steps of the evaluation, in the engine's order: the rules, the rollout, and the rest.

use leptos::prelude::*;
use pennon_model::{configuration::FlagConfiguration, environment::Environment};

use super::{
    Shown,
    actions::{Action, said},
    address::Edit,
    rollout, rules,
};
use crate::{
    components::{icon::Icon, link_button::LinkButton},
    describe,
    html::{Html, IntoHtml as _, html},
};

/// Renders the list. Its last line is always present, and states the result without a match.
pub(super) fn path(shown: &Shown, environment: &Environment, current: &FlagConfiguration) -> Html {
    let steps = rules::rules(shown, current);
    let add = (shown.may_edit() && shown.edit == Edit::Nothing).then(|| {
        view! {
            <li class="step step-add">
                <LinkButton href=shown.address.editing(Edit::NewRule) icon=Icon::PLUS label="Add rule"/>
            </li>
        }
    });
    let rollout = current.rollout.as_ref().map(|rollout| rollout.rollout);
    let rest = describe::otherwise(!current.rules.is_empty(), rollout);
    html! {
        <p class="path-note">
            {format!(
                "The flag is off in {}, so everyone gets OFF. Once it is on, this decides:",
                shown.name_of(environment),
            )}
        </p>
        <ol class="path" id="rules" data-unit>
            {steps}
            {add}
            {rollout::rollout(shown, current)}
            <li class="step step-else">
                <span class="step-mark">"else"</span>
                <p class="step-text">{sentence(&rest)}</p>
            </li>
        </ol>
        {order(shown, current)}
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
fn order(shown: &Shown, current: &FlagConfiguration) -> Option<Html> {
    let several = current.rules.len() > 1;
    if !(shown.may_edit() && several && shown.edit == Edit::Nothing) {
        return None;
    }
    let order: Vec<_> = current
        .rules
        .iter()
        .map(|rule| rule.id.to_string())
        .collect();
    let form = view! {
        <form id="rule-order" method="post" action=shown.address.href()>
            {shown.hidden(Action::Order, None)}
            <input type="hidden" name="seen" value=said(&current.rules)/>
            <input type="hidden" name="order" value=order.join(" ")/>
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
