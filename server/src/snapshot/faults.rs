//! Stored data that is unreadable although the database responds.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use pennon_model::id::EnvironmentId;

use crate::error::Error;

/// The data that the last refill could not read. Each fault is logged once, not at each attempt. While any fault
/// exists, the server's health is degraded.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Found>);

/// Unreadable data, with the errors.
pub(super) type Found = HashMap<Unreadable, Arc<str>>;

/// A piece of unreadable data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unreadable {
    /// The list of environments.
    Environments,
    Environment(EnvironmentId),
    /// The flag with this key in an environment.
    Flag(EnvironmentId, Arc<str>),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environments => formatter.write_str("the list of environments"),
            Self::Environment(id) => write!(formatter, "environment {id}"),
            Self::Flag(id, key) => write!(formatter, "flag {key} in environment {id}"),
        }
    }
}

impl Faults {
    /// Returns the number of environments and flags that are unreadable.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// Records a refill that failed as a whole, unless the database was unavailable, which says nothing about its
    /// content.
    pub(super) fn record_failure(&self, error: &Error) {
        if !matches!(error, Error::Unavailable(_)) {
            let error = error.to_string().into();
            self.replace(HashMap::from([(Unreadable::Environments, error)]));
        }
    }

    /// Records all data that a refill could not read, in place of the previous faults.
    pub(super) fn replace(&self, found: Found) {
        let mut known = self.0.lock();
        for (data, error) in &found {
            if known.get(data) != Some(error) {
                tracing::error!(%data, %error, "cannot read stored data: serving its last readable state");
            }
        }
        for data in known.keys().filter(|known| !found.contains_key(known)) {
            tracing::info!(%data, "stored data is readable again");
        }
        *known = found;
    }
}
