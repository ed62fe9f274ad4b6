//! The dashboard's ports, over the same use cases as the API.

mod account;
mod audit;
mod environments;
mod flag_page;
mod flags;
mod people;
mod playground;
mod search;
mod usage;

use std::net::IpAddr;
use std::sync::Arc;

use leptos::prelude::provide_context;
use pennon_core::Invalid;
use pennon_dashboard::error::{AdminError, FieldError};
use pennon_dashboard::port::account::OwnAccount;
use pennon_dashboard::port::audit::AuditAdmin;
use pennon_dashboard::port::environments::EnvironmentAdmin;
use pennon_dashboard::port::flag_page::FlagPageAdmin;
use pennon_dashboard::port::flags::FlagAdmin;
use pennon_dashboard::port::people::PeopleAdmin;
use pennon_dashboard::port::playground::PlaygroundAdmin;
use pennon_dashboard::port::search::SearchAdmin;
use pennon_dashboard::port::usage::UsageAdmin;

use crate::admin::Admin;
use crate::admin::precondition::Precondition;
use crate::auth::actor::Person;
use crate::error::{Error, Fault, FaultLocation};

/// The service, for the person who is signed in to the dashboard.
pub(crate) struct SignedIn {
    admin: Admin,
    actor: Person,
    /// The address that the person comes from.
    address: IpAddr,
}

impl SignedIn {
    /// Gives what is being rendered its ways to the service.
    pub(crate) fn provide(admin: Admin, actor: Person, address: IpAddr) {
        provide_context(actor.user().clone());
        let signed_in = Arc::new(Self {
            admin,
            actor,
            address,
        });
        provide_context::<Arc<dyn FlagAdmin>>(signed_in.clone());
        provide_context::<Arc<dyn FlagPageAdmin>>(signed_in.clone());
        provide_context::<Arc<dyn EnvironmentAdmin>>(signed_in.clone());
        provide_context::<Arc<dyn PlaygroundAdmin>>(signed_in.clone());
        provide_context::<Arc<dyn UsageAdmin>>(signed_in.clone());
        provide_context::<Arc<dyn AuditAdmin>>(signed_in.clone());
        provide_context::<Arc<dyn PeopleAdmin>>(signed_in.clone());
        provide_context::<Arc<dyn SearchAdmin>>(signed_in.clone());
        provide_context::<Arc<dyn OwnAccount>>(signed_in);
    }
}

/// The condition that an object is still in the revision that a page has shown.
fn expected(revision: i64) -> Precondition {
    Precondition::OneOf(vec![revision])
}

/// The faults of a form, all of them.
#[derive(Default)]
struct Form(Vec<FieldError>);

impl Form {
    fn field<T>(&mut self, name: &str, parsed: Result<T, Invalid>) -> Option<T> {
        self.checked(name, parsed.map_err(Invalid::detail))
    }

    /// The same, of what says what is wrong with it in plain text.
    fn checked<T>(&mut self, name: &str, parsed: Result<T, &'static str>) -> Option<T> {
        let record = |detail: &str| {
            self.0.push(FieldError {
                field: name.to_owned(),
                detail: detail.to_owned(),
            });
        };
        parsed.map_err(record).ok()
    }

    fn refused(self) -> AdminError {
        AdminError::Invalid(self.0)
    }
}

/// The one place that says in the dashboard's words what went wrong.
pub(crate) fn to_admin_error(error: Error) -> AdminError {
    match error {
        Error::Unauthenticated | Error::WrongCredential | Error::SessionRequired => {
            AdminError::SignedOut
        }
        Error::WrongPassword => AdminError::WrongCredentials,
        Error::TooManyAttempts {
            retry_after_seconds,
        } => AdminError::TooManyAttempts(retry_after_seconds),
        Error::Forbidden(_) => AdminError::Forbidden,
        Error::NotFound(_) | Error::NoSuchPath | Error::MethodNotAllowed => AdminError::NotFound,
        Error::Conflict(conflict) => AdminError::Conflict(sentence(&conflict.to_string())),
        Error::Stale { .. } => AdminError::Stale,
        Error::Invalid(faults) => {
            AdminError::Invalid(faults.into_iter().map(field_error).collect())
        }
        Error::Unavailable(_) | Error::Unconfirmed(_) | Error::TimedOut => AdminError::Unavailable,
        Error::Overloaded | Error::TooManyRequests => AdminError::Overloaded,
        Error::StorageFull(_) => AdminError::StorageFull,
        Error::Malformed(detail) => AdminError::Transport(detail),
        error @ (Error::MalformedRequest
        | Error::HeadTooLarge(_)
        | Error::UnsupportedMediaType
        | Error::TooLarge(_)
        | Error::TooSlow(_)) => AdminError::Transport(error.to_string()),
        Error::Internal(detail) => {
            tracing::error!(detail, "internal error");
            AdminError::Internal
        }
    }
}

/// A clause of the API as a sentence for the screen.
fn sentence(clause: &str) -> String {
    let mut characters = clause.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).chain(['.']).collect()
}

fn field_error(fault: Fault) -> FieldError {
    let field = match fault.location {
        FaultLocation::Pointer(pointer) => pointer.trim_start_matches('/').to_owned(),
        FaultLocation::Parameter(name) => name,
    };
    FieldError {
        field,
        detail: fault.detail,
    }
}
