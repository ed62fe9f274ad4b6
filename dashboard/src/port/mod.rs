//! The port: the traits through which pages and server functions access the server.
//!
//! [`Visit`] represents the current request and response, the other traits act for the signed-in user. The server
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

/// Returns the use cases of one trait (`dyn FlagAdmin`) for the signed-in user. Pages and server functions have no
/// other access to them.
///
/// The context contains them only if a user is signed in, so access implies a session. Without a session, the result is
/// the error that the server left in the context, otherwise [`AdminError::SignedOut`]. The server checks the user's
/// rights: every method may return [`AdminError::Forbidden`].
pub fn signed_in<P: ?Sized + Send + Sync + 'static>() -> Result<Arc<P>, AdminError> {
    use_context().ok_or_else(session_error)
}

/// Returns the signed-in user.
pub fn signed_in_user() -> Result<User, AdminError> {
    use_context().ok_or_else(session_error)
}

fn session_error() -> AdminError {
    use_context().unwrap_or(AdminError::SignedOut)
}

/// An object, and the revision at which a page showed it. A change fails if the object is at another revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected<Id> {
    /// The object.
    pub id: Id,
    /// The revision.
    pub revision: i64,
}

/// Returns the current request. Fails while the list of routes is generated.
pub fn visit() -> Result<Arc<dyn Visit>, AdminError> {
    use_context().ok_or(AdminError::Internal)
}

/// Returns the query parameters of the current request; none while the list of routes is generated.
pub(crate) fn query() -> Form {
    visit().map(|visit| visit.query()).unwrap_or_default()
}

/// Converts a time to the visitor's time zone.
pub fn local(at: Timestamp) -> LocalTime {
    visit().map_or_else(|_| LocalTime::in_utc(at), |visit| visit.local(at))
}
