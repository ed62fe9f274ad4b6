//! What cannot be read although the database answers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pennon_core::model::id::EnvironmentId;

use crate::error::Error;

/// What the last refill could not read. The log says so once, not at each attempt, and those who ask after the service's
/// health are told for as long as it lasts.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Found>);

/// Why what cannot be read: an environment or, without one, the list of them.
pub(super) type Found = HashMap<Option<EnvironmentId>, String>;

impl Faults {
    /// Whether there is any.
    pub(crate) fn are_there(&self) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !known.is_empty()
    }

    /// Takes note of a refill that got nowhere. A database that is away says nothing about what is in it.
    pub(super) fn failed(&self, error: &Error) {
        if !matches!(error, Error::Unavailable(_)) {
            self.are(HashMap::from([(None, error.to_string())]));
        }
    }

    /// Takes note of all that a refill could not read.
    pub(super) fn are(&self, found: Found) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (environment, error) in &found {
            if known.get(environment) != Some(error) {
                let environment = environment.map(tracing::field::display);
                tracing::error!(environment, %error, "what is served cannot be brought up to date");
            }
        }
        for environment in known.keys().filter(|known| !found.contains_key(known)) {
            let environment = environment.map(tracing::field::display);
            tracing::info!(
                environment,
                "what is served can be brought up to date again"
            );
        }
        *known = found;
    }
}
