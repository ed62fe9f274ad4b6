//! The session of a user who keeps a stream open.

use std::sync::Arc;
use std::time::Duration;

use pennon_model::audit::ChangeEvent;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::auth::actor::Person;
use crate::feed::Notification;
use crate::state::AppState;

/// The interval between checks of the session. A notification that a session has ended causes an additional check.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// A session, and the changes while it lasts.
pub(super) struct StreamSession {
    state: AppState,
    person: Person,
    notifications: Receiver<Notification>,
    checks: Interval,
}

impl StreamSession {
    pub(super) fn new(state: AppState, person: Person) -> Self {
        let mut checks = interval(CHECK_INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let notifications = state.admin.feed.subscribe();
        Self {
            state,
            person,
            notifications,
            checks,
        }
    }

    pub(super) fn person(&self) -> &Person {
        &self.person
    }

    /// Returns the next change; none once the session has ended, or the role or the grants have changed.
    pub(super) async fn next_change(&mut self) -> Option<Arc<ChangeEvent>> {
        loop {
            tokio::select! {
                notification = self.notifications.recv() => match notification {
                    Ok(Notification::Changed(change)) => {
                        if change.user.is_some() && !self.is_signed_in().await {
                            return None;
                        }
                        return Some(change);
                    }
                    Ok(Notification::SignedOut) if self.is_signed_in().await => {}
                    // A subscriber that fell behind must reconnect. It then finds that something changed.
                    Ok(Notification::SignedOut) | Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
                },
                _ = self.checks.tick() => {
                    if !self.is_signed_in().await {
                        return None;
                    }
                }
            }
        }
    }

    /// Waits until the session has ended, or the role or the grants have changed.
    pub(super) async fn ended(mut self) {
        while self.next_change().await.is_some() {}
    }

    /// Returns true if the session is still valid. While the database is unavailable, no session can end.
    async fn is_signed_in(&self) -> bool {
        self.person
            .is_signed_in(&self.state.auth)
            .await
            .unwrap_or(true)
    }
}
