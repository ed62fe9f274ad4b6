//! Implements the dashboard's ports with the same use cases as the API.

mod account;
mod audit;
mod environments;
mod flag_page;
mod flags;
mod people;
mod playground;
mod search;
mod usage;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use leptos::prelude::provide_context;
use pennon_core::Invalid;
use pennon_dashboard::describe::sentence;
use pennon_dashboard::error::{
    AdminError, FieldError, FieldErrors, UnchangeableFlag, UnconfirmedChange,
};
use pennon_dashboard::port::account::OwnAccount;
use pennon_dashboard::port::audit::AuditAdmin;
use pennon_dashboard::port::environments::EnvironmentAdmin;
use pennon_dashboard::port::flag_page::FlagPageAdmin;
use pennon_dashboard::port::flags::{FlagAdmin, MetadataForm};
use pennon_dashboard::port::people::PeopleAdmin;
use pennon_dashboard::port::playground::PlaygroundAdmin;
use pennon_dashboard::port::search::SearchAdmin;
use pennon_dashboard::port::usage::UsageAdmin;
use pennon_model::environment::ProductName;
use pennon_model::flag::FlagProducts;
use pennon_model::metadata::{FlagKind, FlagMetadata, FlagTags};
use pennon_model::text::Description;

use crate::admin::Admin;
use crate::admin::precondition::Precondition;
use crate::auth::actor::Person;
use crate::error::{Conflict, Error, Fault, FaultLocation, join_paths};

/// The server, on behalf of the user who is signed in to the dashboard.
pub(crate) struct SignedIn {
    admin: Admin,
    actor: Person,
    /// The client address of the user.
    address: IpAddr,
}

impl SignedIn {
    /// Provides the ports to the page that is being rendered.
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

/// The precondition that an object still has the revision that the page shows.
fn expected(revision: i64) -> Precondition {
    Precondition::OneOf(vec![revision])
}

/// Parses a description; none if the text is empty.
fn optional_description(text: String) -> Result<Option<Description>, Invalid> {
    let text = Some(text).filter(|text| !text.is_empty());
    text.map(TryInto::try_into).transpose()
}

/// Parses the products of a flag; none for every product.
fn flag_products(names: Option<Vec<String>>) -> Result<Option<FlagProducts>, Invalid> {
    let Some(names) = names else {
        return Ok(None);
    };
    if names.is_empty() {
        return Err(Invalid::new("must have at least one product"));
    }
    let names: BTreeSet<ProductName> = names
        .into_iter()
        .map(ProductName::try_from)
        .collect::<Result<_, _>>()?;
    FlagProducts::try_from(names).map(Some)
}

/// Moves the faults of grants to the field with their product or environment.
fn scope_refused(error: AdminError) -> AdminError {
    let AdminError::Invalid(mut errors) = error else {
        return error;
    };
    for error in &mut errors {
        if error.field.starts_with("grants") {
            "scope".clone_into(&mut error.field);
        }
    }
    AdminError::Invalid(errors)
}

/// Parses the metadata of a flag. A part that is empty has no value. Returns `None` after adding an error.
fn flag_metadata(errors: &mut FieldErrors, typed: &MetadataForm) -> Option<FlagMetadata> {
    let tags = errors.keep("tags", FlagTags::parse_list(&typed.tags));
    let owner = errors.keep(
        "owner",
        optional(&typed.owner, |text| text.to_owned().try_into()),
    );
    let kind = errors.keep("kind", optional(&typed.kind, FlagKind::parse));
    let parse_expiry = |text: &str| text.to_owned().try_into();
    let expires_at = errors.keep("expiresAt", optional(&typed.expires_at, parse_expiry));
    Some(FlagMetadata {
        tags: tags?,
        owner: owner?,
        kind: kind?,
        expires_at: expires_at?,
    })
}

/// Parses a text without the spaces at its ends; none if nothing is left.
fn optional<T>(
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Result<Option<T>, Invalid> {
    let text = Some(text.trim()).filter(|text| !text.is_empty());
    text.map(parse).transpose()
}

/// Converts errors to the dashboard's terms. No other place does.
impl From<Error> for AdminError {
    fn from(error: Error) -> Self {
        match error {
            Error::Unauthenticated | Error::WrongCredential | Error::SessionRequired => {
                Self::SignedOut
            }
            Error::WrongPassword => Self::WrongCredentials,
            Error::TooManyAttempts {
                retry_after_seconds,
            } => Self::TooManyAttempts(retry_after_seconds),
            Error::Forbidden(_) | Error::ForbiddenFor(..) => Self::Forbidden,
            Error::NotFound(_) | Error::NoSuchPath | Error::MethodNotAllowed => Self::NotFound,
            Error::Conflict(Conflict::FlagEnabledElsewhere(environments)) => {
                Self::Conflict(sentence(&format!(
                    "the flag is still on in {}, which the change takes it out of",
                    join_paths(&environments)
                )))
            }
            Error::ConfirmationRequired {
                environments,
                lacks_reason,
            } => Self::Unconfirmed(UnconfirmedChange {
                action: None,
                environments,
                is_protected: true,
                needs_reason: lacks_reason,
            }),
            Error::ReasonRequired(environments) => Self::Unconfirmed(UnconfirmedChange {
                action: None,
                environments,
                is_protected: false,
                needs_reason: true,
            }),
            Error::Conflict(conflict) => Self::Conflict(sentence(&conflict.to_string())),
            Error::Stale { .. } | Error::StalePreview => Self::Stale,
            Error::OfFlags { flags, .. } => {
                let flags = flags.into_iter().map(|flag| UnchangeableFlag {
                    index: flag.index,
                    detail: sentence(&flag.detail),
                });
                Self::UnchangeableFlags(flags.collect())
            }
            Error::Invalid(faults) => Self::Invalid(faults.into_iter().map(field_error).collect()),
            Error::Unavailable(_) => Self::Unavailable,
            Error::Unconfirmed(_) | Error::TimedOut => Self::OutcomeUnknown,
            Error::Overloaded | Error::TooManyRequests => Self::Overloaded,
            Error::ReadOnly(_) => Self::ReadOnly,
            Error::StorageFull(_) => Self::StorageFull,
            Error::Malformed(detail) => Self::Transport(detail),
            error @ (Error::MalformedRequest
            | Error::HeadTooLarge(_)
            | Error::UnsupportedMediaType
            | Error::UnsupportedCoding
            | Error::TooLarge(_)
            | Error::TooSlow(_)
            | Error::ConfigNotPublic) => Self::Transport(error.to_string()),
            Error::Internal(detail) => {
                tracing::error!(detail, "internal error");
                Self::Internal
            }
        }
    }
}

fn field_error(fault: Fault) -> FieldError {
    let field = match fault.location {
        FaultLocation::Pointer(pointer) => pointer.trim_start_matches('/').to_owned(),
        FaultLocation::Parameter(name) => name,
    };
    FieldError::new(&field, fault.detail)
}
