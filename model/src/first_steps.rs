//! The first steps of an installation.

use crate::id::EnvironmentId;
use crate::time::Timestamp;

/// The first steps that are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstSteps {
    /// The oldest active environment.
    pub environment: Option<EnvironmentId>,
    /// The time at which the first environment was created.
    pub started_at: Option<Timestamp>,
    /// The key of the newest active flag.
    pub flag_key: Option<String>,
    /// True if an application has sent a request with an SDK key.
    pub has_request: bool,
    /// True if a flag is on anywhere.
    pub is_flag_on: bool,
}

impl FirstSteps {
    /// Returns true if all steps are taken.
    pub fn are_complete(&self) -> bool {
        self.environment.is_some() && self.flag_key.is_some() && self.has_request && self.is_flag_on
    }
}
