//! What the pages and server functions ask of the service around them.
//!
//! [`Visit`] speaks for the request and response at hand, the other ports for the person who is signed in. The server
//! implements them and provides them as Leptos context; a test provides a fake of those that it needs.

pub mod account;
pub mod audit;
pub mod environments;
pub mod flag_page;
pub mod flags;
pub mod people;
pub mod playground;
pub mod search;
pub mod usage;
mod visit;

use std::sync::Arc;

use leptos::prelude::use_context;
use pennon_model::{time::Timestamp, user::User};

pub use self::visit::{LocalTime, Npmrc, Visit};
use crate::{error::AdminError, form::Form};

/// The use cases of the service behind one port (`dyn FlagAdmin`), bound to the person who is signed in. Pages and server
/// functions have no other way to them.
///
/// They are in context only when somebody is signed in, so this is both the way to them and the check; otherwise it says why
/// there is nobody, if the server left such an error in context, or that there is nobody. What the person may do is decided behind
/// the port: every method may answer [`AdminError::Forbidden`].
pub fn signed_in<P: ?Sized + Send + Sync + 'static>() -> Result<Arc<P>, AdminError> {
    use_context().ok_or_else(why_nobody)
}

/// Who is signed in.
pub fn signed_in_user() -> Result<User, AdminError> {
    use_context().ok_or_else(why_nobody)
}

fn why_nobody() -> AdminError {
    use_context().unwrap_or(AdminError::SignedOut)
}

/// An object with the revision that a page has shown. If it is in another one by now, nothing is done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected<Id> {
    /// The object.
    pub id: Id,
    /// The revision.
    pub revision: i64,
}

/// The request at hand. There is none while the list of routes is made.
pub fn visit() -> Result<Arc<dyn Visit>, AdminError> {
    use_context().ok_or(AdminError::Internal)
}

/// The parameters of the address that was asked for; none while the list of routes is being made.
pub(crate) fn query() -> Form {
    visit().map(|visit| visit.query()).unwrap_or_default()
}

/// A moment in the visitor's time zone.
pub fn local(at: Timestamp) -> LocalTime {
    visit().map_or_else(|_| LocalTime::in_utc(at), |visit| visit.local(at))
}
