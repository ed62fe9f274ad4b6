//! The intent behind the changes of a user.

use http::HeaderName;
use http::request::Parts;
use pennon_dashboard::components::confirm_change::{REASON, is_confirmed};
use pennon_dashboard::form::Form;
use pennon_model::audit::ChangeReason;

use crate::auth::intent::{Intent, reason_in};

/// The header with which the page script confirms a change, because the user has confirmed it in a dialog.
const X_CHANGE_CONFIRMED: HeaderName = HeaderName::from_static("x-change-confirmed");

/// Returns the intent that the fields of a form or the headers of the page script give. Without a valid reason, the
/// page asks for one if it is required.
pub(super) fn of(parts: &Parts) -> Intent {
    let Some(form) = parts.extensions.get::<Form>() else {
        let reason = reason_in(&parts.headers).unwrap_or_default();
        return Intent::of_user(reason, parts.headers.contains_key(X_CHANGE_CONFIRMED));
    };
    let reason = ChangeReason::try_from(form.text(REASON)).ok();
    Intent::of_user(reason, is_confirmed(form))
}
