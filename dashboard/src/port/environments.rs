//! What pages ask about environments.

use async_trait::async_trait;
use pennon_model::{
    client::ClientUsage,
    environment::Environment,
    id::EnvironmentId,
    page::{Page, PageRequest},
    time::Timestamp,
};

use crate::{error::AdminError, model::Naming};

/// The use cases that concern environments.
#[async_trait]
pub trait EnvironmentAdmin: Send + Sync {
    /// All active environments by product and nearness to users, with how each was polled in the last day.
    async fn active_environments(&self) -> Result<Vec<PolledEnvironment>, AdminError>;

    /// The naming scheme of environments.
    async fn naming(&self) -> Result<Naming, AdminError>;

    /// One page of revoked environments, newest first.
    async fn revoked_environments(
        &self,
        page: PageRequest,
    ) -> Result<Page<Environment>, AdminError>;

    /// One environment, and how it is used.
    async fn environment(&self, id: EnvironmentId) -> Result<UsedEnvironment, AdminError>;

    /// Creates an environment; its key is in this answer and nowhere else.
    async fn create_environment(
        &self,
        new: NewEnvironment,
    ) -> Result<CreatedEnvironment, AdminError>;

    /// Gives an environment another name.
    async fn rename_environment(&self, seen: Seen, name: String) -> Result<(), AdminError>;

    /// Gives an environment a new key, which is in this answer and nowhere else. The old one is refused from now on.
    ///
    /// `typed` has to be the environment's name; otherwise [`AdminError::Invalid`] says so of the field `confirmation`.
    async fn rotate_key(&self, seen: Seen, typed: &str) -> Result<CreatedEnvironment, AdminError>;

    /// Revokes an environment for good, under the same condition.
    async fn revoke_environment(&self, seen: Seen, typed: &str) -> Result<(), AdminError>;
}

/// An environment as the reader has seen it. When it has changed since, nothing is done to it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Which one it is.
    pub id: EnvironmentId,
    /// The revision in which it was.
    pub revision: i64,
}

/// An environment, and how applications fetch from it.
#[derive(Clone, Debug)]
pub struct PolledEnvironment {
    /// The environment.
    pub environment: Environment,
    /// How it was polled.
    pub polling: Polling,
}

/// An environment, and how it is used.
#[derive(Clone, Debug)]
pub struct UsedEnvironment {
    /// The environment.
    pub environment: Environment,
    /// How it was polled.
    pub polling: Polling,
    /// When its key was last used for anything, to the minute.
    pub last_used: Option<Timestamp>,
    /// The clients that fetched its flags in the last 31 days: those seen last.
    pub clients: Page<ClientUsage>,
}

/// How often applications asked for an environment's configuration in the last day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polling {
    /// When one last did, to the minute.
    pub last: Option<Timestamp>,
    /// Those that had none yet.
    pub first: i64,
    /// Those that had the newest.
    pub current: i64,
    /// Those that had an older one.
    pub outdated: i64,
}

impl Polling {
    /// How often anybody asked.
    pub fn total(self) -> i64 {
        self.first
            .saturating_add(self.current)
            .saturating_add(self.outdated)
    }

    /// How many percent of those that had a configuration already had the newest one; none if there were none.
    ///
    /// It is 100 only if all had it.
    pub fn newest(self) -> Option<i64> {
        let known = self.current.saturating_add(self.outdated);
        self.current.saturating_mul(100).checked_div(known)
    }
}

/// An environment to create, as it was typed.
#[derive(Clone, Debug, Default)]
pub struct NewEnvironment {
    /// The product it belongs to.
    pub product: String,
    /// Its name.
    pub name: String,
}

/// An environment that has just been created, or has just got its key.
#[derive(Clone)]
pub struct CreatedEnvironment {
    /// The environment.
    pub environment: Environment,
    /// Its key, in full; it is shown once and can never be read again.
    pub sdk_key: String,
}

#[cfg(test)]
mod tests {
    use super::Polling;

    #[test]
    fn a_share_counts_those_alone_that_had_a_configuration_and_is_whole_only_if_all_are_new() {
        let share = |first, current, outdated| {
            let last = None;
            let polling = Polling {
                last,
                first,
                current,
                outdated,
            };
            polling.newest()
        };
        assert_eq!(share(5, 0, 0), None);
        assert_eq!(share(5, 3, 1), Some(75));
        assert_eq!(share(0, 999, 1), Some(99));
        assert_eq!(share(0, 7, 0), Some(100));
    }
}
