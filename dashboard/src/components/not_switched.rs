//! A switch that was pressed without scripts, and failed.

use leptos::prelude::*;

use super::notice::{Notice, Severity};
use crate::{api::flags::SetEnabled, error::AdminError};

/// Explains the failure on the page to which the form returned; renders nothing if no switch was pressed.
#[component]
pub fn NotSwitched() -> impl IntoView {
    let error = ServerAction::<SetEnabled>::new()
        .value()
        .get_untracked()
        .and_then(Result::err);
    error.map(|error| {
        view! {
            <Notice severity=Severity::Danger>
                {(error != AdminError::OutcomeUnknown)
                    .then(|| view! { <strong>"Not switched. "</strong> })}
                {reason(error)}
            </Notice>
        }
    })
}

/// Describes the error in fixed words, because it arrives in the URL, which anybody could have written.
fn reason(error: AdminError) -> String {
    match error {
        AdminError::Conflict(_) => {
            "The flag is archived, or the environment is revoked.".to_owned()
        }
        AdminError::Transport(_) => "The request could not be understood.".to_owned(),
        AdminError::Invalid(_) | AdminError::TooManyAttempts(_) => AdminError::Internal.to_string(),
        error => error.to_string(),
    }
}
