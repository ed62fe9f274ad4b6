//! The first steps of an installation.

use leptos::prelude::*;
use pennon_model::{first_steps::FirstSteps, time::Timestamp, user::User};

use super::{
    icon::{Drawing, Icon},
    link_button::LinkButton,
    new_flag_link::NewFlagLink,
};
use crate::{
    html::{Html, IntoHtml as _, html},
    port::visit,
    routes,
    scope::scoped,
};

/// The time after the first environment's creation for which the complete list stays, in milliseconds.
const PERIOD: i64 = 60 * 60 * 1000;

/// A step: its text, and its action while it is to do.
struct Step {
    is_done: bool,
    /// True if the steps that it needs are done.
    is_possible: bool,
    text: &'static str,
    action: Html,
}

/// Returns true if the list of steps should be shown: some are missing, or the last one was taken a short time ago.
pub fn are_shown(steps: &FirstSteps) -> bool {
    let now = visit().map_or(0, |visit| visit.now().millis());
    let is_new = |started: Timestamp| now.saturating_sub(started.millis()) < PERIOD;
    !steps.are_complete() || steps.started_at.is_some_and(is_new)
}

/// The list of the first steps. It marks each as done as soon as it is: the script fetches the page again while a
/// request is missing, and after every change.
#[component]
pub fn FirstStepList(
    /// The steps that are taken.
    steps: FirstSteps,
    /// The reader.
    user: User,
) -> impl IntoView {
    let is_complete = steps.are_complete();
    let waits_for_request = steps.environment.is_some() && !steps.has_request;
    let all = all(&steps, &user);
    let done = all.iter().filter(|step| step.is_done).count();
    let count = all.len();
    let items = all.into_iter().map(|step| {
        let state = if step.is_done { "Done: " } else { "To do: " };
        let action = (step.is_possible && !step.is_done).then_some(step.action);
        let mark = step.is_done.then(|| view! { <Drawing icon=Icon::CHECK/> });
        html! {
            <li class="first-step" class:done=step.is_done>
                <span class="first-step-mark" aria-hidden="true">{mark}</span>
                <div>
                    <p>
                        <span class="visually-hidden">{state}</span>
                        {step.text}
                    </p>
                    {action}
                </div>
            </li>
        }
    });
    let title = if is_complete {
        "You are set up"
    } else {
        "First steps"
    };
    html! {
        <section
            class="panel first-steps"
            aria-labelledby="first-steps"
            data-awaiting=waits_for_request.then_some("")
        >
            <h2 id="first-steps">
                {title} " " <span class="count">{format!("{done} of {count}")}</span>
            </h2>
            <ol>{items.collect_view()}</ol>
        </section>
    }
}

/// Returns all steps, in the order in which most people take them.
fn all(steps: &FirstSteps, user: &User) -> Vec<Step> {
    let environment = steps.environment.map(|id| scoped(routes::environment(id)));
    let environment = environment.unwrap_or_default();
    let flag = steps
        .flag_key
        .as_deref()
        .map(|key| scoped(routes::flag(key)));
    let (has_environment, has_flag) = (steps.environment.is_some(), flag.is_some());
    let has_stored_key = visit().is_ok_and(|visit| visit.has_stored_key());
    let create_environment = if user.may_create_environments() {
        html! {
            <LinkButton
                href=routes::NEW_ENVIRONMENT
                icon=Icon::PLUS
                primary=true
                label="New environment"
            />
        }
    } else {
        html! { <p class="hint">"Ask an admin to create one."</p> }
    };
    let create_flag = if user.may_edit_flags() {
        html! { <NewFlagLink/> }
    } else {
        html! { <p class="hint">"Ask an editor to create one."</p> }
    };
    vec![
        Step {
            is_done: has_environment,
            is_possible: true,
            text: "Create an environment, such as production. Each has its own SDK key and its own switch for every flag.",
            action: create_environment,
        },
        Step {
            is_done: has_environment && (has_stored_key || steps.has_request),
            is_possible: has_environment,
            text: "Copy its SDK key, which is shown only once.",
            action: html! {
                <p class="hint">
                    "Is it lost? "
                    <a href=environment.clone()>"Rotate the key"</a>
                    " to get another one."
                </p>
            },
        },
        Step {
            is_done: has_flag,
            is_possible: has_environment,
            text: "Create a flag. It is off everywhere at first.",
            action: create_flag,
        },
        Step {
            is_done: steps.has_request,
            is_possible: has_environment && has_flag,
            text: "Send the first request with the key, from your application or with curl.",
            action: html! {
                <p class="hint">
                    "Waiting for a request … "
                    <a href=format!("{environment}#ask")>"Show the code"</a>
                </p>
            },
        },
        Step {
            is_done: steps.is_flag_on,
            is_possible: has_environment && has_flag,
            text: "Turn the flag on. The next request gets ON.",
            action: flag.map_or_else(
                || ().into_html(),
                |flag| html! { <a class="button" href=flag>"Open the flag"</a> },
            ),
        },
    ]
}
