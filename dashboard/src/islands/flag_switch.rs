//! The switch of a flag in one environment.

use leptos::{form::ActionForm, prelude::*};
use pennon_core::model::id::{EnvironmentId, FlagId};

use crate::{
    api::flags::SetEnabled,
    components::icon::{Drawing, Icon},
    error::AdminError,
};

/// Switches at once and asks the service meanwhile; a refusal switches back and says why.
///
/// Without scripts it is a form with one button.
#[island]
pub fn FlagSwitch(
    /// The flag.
    flag: FlagId,
    /// The environment.
    environment: EnvironmentId,
    /// What is switched, as it is read aloud.
    label: String,
    /// Whether it was on when the page was drawn.
    enabled: bool,
    /// What decides when it is on for some only.
    partly: Option<String>,
) -> impl IntoView {
    let action = ServerAction::<SetEnabled>::new();
    let confirmed = Memo::new(move |before: Option<&bool>| match action.value().get() {
        Some(Ok(now)) => now,
        _ => before.copied().unwrap_or(enabled),
    });
    let on = Signal::derive(move || {
        action
            .input()
            .get()
            .map_or_else(|| confirmed.get(), |sent| sent.enabled)
    });
    // After a plain form every action of the page finds the error of the one that failed, so only an own call counts.
    let dismissed = RwSignal::new(0);
    let refusal = move || {
        let version = action.version().get();
        (version > dismissed.get())
            .then(|| action.value().get()?.err())
            .flatten()
    };
    view! {
        <ActionForm action>
            <input type="hidden" name="flag" value=flag.to_string()/>
            <input type="hidden" name="environment" value=environment.to_string()/>
            <Switch label on partly/>
        </ActionForm>
        {move || {
            refusal()
                .map(|error| {
                    view! {
                        <Refusal error dismiss=move || dismissed.set(action.version().get_untracked())/>
                    }
                })
        }}
    }
}

/// How a switch looks: off, on, or partly, which is on with something that decides further.
#[component]
pub fn Switch(
    /// What is switched, as it is read aloud.
    label: String,
    /// Whether it is on.
    #[prop(into)]
    on: Signal<bool>,
    /// What decides when it is on for some only.
    partly: Option<String>,
    /// Whether it only shows how things stand.
    #[prop(optional)]
    locked: bool,
) -> impl IntoView {
    let some_only = partly.is_some();
    let state = move || match (on.get(), some_only) {
        (false, _) => "off",
        (true, false) => "on",
        (true, true) => "partly",
    };
    let word = move || match (on.get(), &partly) {
        (false, _) => "Off".to_owned(),
        (true, None) => "On".to_owned(),
        (true, Some(partly)) => partly.clone(),
    };
    view! {
        <button
            class="switch"
            role="switch"
            name="enabled"
            value=move || (!on.get()).to_string()
            disabled=locked
            aria-checked=move || on.get().to_string()
            aria-label=label
            data-state=state
        >
            <span class="track"></span>
            <span class="switch-word">{word}</span>
        </button>
    }
}

/// Why it was switched back.
#[component]
fn Refusal(error: AdminError, dismiss: impl Fn() + 'static) -> impl IntoView {
    let sign_in = (error == AdminError::SignedOut)
        .then(|| view! { " " <a href="/dashboard/login">"Sign in"</a> });
    view! {
        <div class="toast" role="alert">
            <p>
                <strong>"Not switched. "</strong>
                {error.to_string()}
                {sign_in}
            </p>
            <button class="icon-button" type="button" aria-label="Close" on:click=move |_| dismiss()>
                <Drawing icon=Icon::Close/>
            </button>
        </div>
    }
}
