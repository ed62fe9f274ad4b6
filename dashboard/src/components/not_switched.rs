//! A switch that was pressed without scripts, and did not move.

use leptos::prelude::*;

use super::notice::{Notice, Weight};
use crate::{api::flags::SetEnabled, error::AdminError};

/// Says why, on the page to which the form led back; nothing if no switch was pressed.
#[component]
pub fn NotSwitched() -> impl IntoView {
    let error = ServerAction::<SetEnabled>::new()
        .value()
        .get_untracked()
        .and_then(Result::err);
    error.map(|error| {
        view! {
            <Notice weight=Weight::Danger>
                <strong>"Not switched. "</strong>
                {reason(error)}
            </Notice>
        }
    })
}

/// The error in words of our own: it comes back in the address, where anybody could have written what it says.
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
