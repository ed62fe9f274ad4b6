//! The intent behind a request's changes: its reason, and the confirmation of a user of the dashboard.

use std::sync::{Arc, OnceLock};

use http::request::Parts;
use http::{HeaderMap, HeaderName};
use pennon_core::Invalid;
use pennon_model::audit::ChangeReason;
use percent_encoding::percent_decode_str;

use super::actor::Actor;
use crate::error::{Error, Fault};
use crate::store::environments::Safeguards;

/// The header that gives the reason for a change, in percent-encoded UTF-8.
const X_CHANGE_REASON: HeaderName = HeaderName::from_static("x-change-reason");

/// The intent behind the changes of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intent {
    reason: GivenReason,
    /// True for a user of the dashboard who has not been asked to confirm the changes.
    pub(super) is_unconfirmed: bool,
}

/// The reason that a request gives. The body, which is read after the actor, can give it too, so the reader of the body
/// gets this through the request's extensions.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenReason(Arc<OnceLock<ChangeReason>>);

impl Intent {
    /// Returns the intent of a user of the dashboard.
    pub(crate) fn of_user(reason: Option<ChangeReason>, is_confirmed: bool) -> Self {
        let given = GivenReason::default();
        if let Some(reason) = reason {
            given.give(&reason);
        }
        Self {
            reason: given,
            is_unconfirmed: !is_confirmed,
        }
    }

    /// Returns the reason.
    pub(super) fn reason(&self) -> Option<&ChangeReason> {
        self.reason.0.get()
    }

    /// Fails if the changes of environments with these safeguards need a reason or a confirmation that is missing.
    pub(super) fn check<'s>(
        &self,
        safeguards: impl IntoIterator<Item = &'s Safeguards>,
    ) -> Result<(), Error> {
        let lacks_reason = self.reason().is_none();
        let (mut unconfirmed, mut unexplained) = (Vec::new(), Vec::new());
        for each in safeguards {
            if self.is_unconfirmed && each.is_protected && !unconfirmed.contains(&each.path) {
                unconfirmed.push(each.path.clone());
            }
            if lacks_reason && each.is_reason_required && !unexplained.contains(&each.path) {
                unexplained.push(each.path.clone());
            }
        }
        match (unconfirmed.is_empty(), unexplained.is_empty()) {
            (true, true) => Ok(()),
            (true, false) => Err(Error::ReasonRequired(unexplained)),
            (false, explained) => Err(Error::ConfirmationRequired {
                environments: unconfirmed,
                lacks_reason: !explained,
            }),
        }
    }
}

impl GivenReason {
    /// Gives the reason. Returns false if another one was given before.
    pub(crate) fn give(&self, reason: &ChangeReason) -> bool {
        self.0.get_or_init(|| reason.clone()) == reason
    }
}

/// Reads the reason from the header of a request that may make changes, and lets the body give it.
pub(super) fn read_reason(parts: &mut Parts, actor: &Actor) -> Result<(), Error> {
    let fault = |detail| Fault::parameter("X-Change-Reason", detail);
    let given = &actor.intent().reason;
    if let Some(reason) = reason_in(&parts.headers).map_err(fault)? {
        given.give(&reason);
    }
    parts.extensions.insert(given.clone());
    Ok(())
}

/// Returns the reason in the headers of a request. Fails with a description of the rule that the header breaks.
pub(crate) fn reason_in(headers: &HeaderMap) -> Result<Option<ChangeReason>, &'static str> {
    let mut values = headers.get_all(X_CHANGE_REASON).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err("must be given once");
    }
    let encoded = value.to_str().ok().filter(|text| has_valid_escapes(text));
    let text = encoded.and_then(|text| percent_decode_str(text).decode_utf8().ok());
    let text = text.ok_or("must be percent-encoded UTF-8")?;
    let reason = ChangeReason::try_from(text.into_owned());
    reason.map(Some).map_err(Invalid::detail)
}

/// Returns true if two hexadecimal digits follow every `%`.
fn has_valid_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}
