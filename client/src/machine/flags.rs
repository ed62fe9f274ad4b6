//! Polling, and the expiry of flags.

use super::{Machine, Phase};
use crate::command::Command;
use crate::event::Moment;
use crate::retry::{jitter, spread};

/// The minimum time between the start of a refresh and that of one that only an expired TTL causes, in milliseconds.
/// Without it, a TTL of a few milliseconds would send one request after the other.
pub(super) const MIN_TTL_REFRESH_INTERVAL: u64 = 1_000;

impl Machine {
    /// Expires flags that could not be confirmed. If the client is ready, starts a refresh if one is due.
    pub(super) fn check_flags(&mut self, moment: Moment) {
        let due = self.ttl_timers.notice(moment.now);
        if due && self.last_failure.is_some() {
            self.expire(moment);
        }
        if self.phase != Phase::Ready || self.request.is_some() {
            return;
        }
        if due {
            let earliest = self.backoff_until.max(self.next_ttl_refresh);
            self.poll_at = Some(self.poll_at.map_or(earliest, |at| at.min(earliest)));
        }
        if self.poll_at.is_some_and(|poll_at| poll_at <= moment.now) {
            self.start_refresh(moment);
        }
    }

    /// Stops serving flags with an expired TTL. During an outage, a client with `stale_if_error` keeps them.
    pub(super) fn expire(&mut self, moment: Moment) {
        if self.can_serve_stale() {
            return;
        }
        let flags = self.ttl_timers.expire(moment.now);
        if !flags.is_empty() {
            self.commands.push(Command::Expire(flags));
        }
    }

    fn can_serve_stale(&self) -> bool {
        self.options.stale_if_error
            && self
                .last_failure
                .is_some_and(|failure| !failure.is_refusal())
    }

    /// Schedules the first poll at a random time, so that a thousand clients that start together do not poll together.
    pub(super) fn schedule_first_poll(&mut self, moment: Moment) {
        let interval = self.poll_interval();
        self.schedule_poll_in(
            interval.map(|interval| spread(interval, moment.random)),
            moment,
        );
    }

    pub(super) fn schedule_poll(&mut self, moment: Moment) {
        let wait = self.take_repeat_delay().or_else(|| self.poll_interval());
        self.schedule_poll_in(wait, moment);
    }

    /// Schedules the first poll after an outage at a random time, so that clients that recovered together do not poll
    /// together.
    pub(super) fn schedule_poll_after_outage(&mut self, moment: Moment) {
        let wait = self.take_repeat_delay().or_else(|| {
            let interval = self.poll_interval();
            interval.map(|interval| jitter(interval, moment.random))
        });
        self.schedule_poll_in(wait, moment);
    }

    fn schedule_poll_in(&mut self, wait: Option<u64>, moment: Moment) {
        let poll_at = wait.map(|wait| moment.now.saturating_add(wait).max(self.backoff_until));
        self.poll_at = poll_at.filter(|_| !self.is_confirmed_by_stream());
    }

    /// Returns the interval between polls. Without polling, expired TTLs trigger refreshes. If a refresh fails, no TTL
    /// is left to expire, so the client polls at the interval of its TTL, with the same minimum.
    pub(super) fn poll_interval(&self) -> Option<u64> {
        match self.options.poll_interval {
            0 if self.last_failure.is_some() => {
                Some(self.options.ttl.max(MIN_TTL_REFRESH_INTERVAL))
            }
            0 => None,
            interval => Some(interval),
        }
    }
}
