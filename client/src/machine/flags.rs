//! Polling, and the expiry of flags.

use super::Machine;
use crate::command::Command;
use crate::event::Moment;
use crate::retry::{around, spread};

impl Machine {
    /// Expires flags that could not be confirmed, and starts a refresh if one is due.
    pub(super) fn look_after_flags(&mut self, moment: Moment) {
        let due = self.lifetimes.notice(moment.now);
        if due && self.failing.is_some() {
            self.expire(moment);
        }
        if self.request.is_some() {
            return;
        }
        if due && self.rest_until > moment.now {
            self.poll_at = Some(self.rest_until);
        } else if due || self.poll_at.is_some_and(|poll_at| poll_at <= moment.now) {
            self.start_refresh(moment);
        }
    }

    /// Stops serving flags with an expired TTL. During an outage, a client with `stale_if_error` keeps them.
    pub(super) fn expire(&mut self, moment: Moment) {
        if self.outlives_outage() {
            return;
        }
        let flags = self.lifetimes.expire(moment.now);
        if !flags.is_empty() {
            self.commands.push(Command::Expire(flags));
        }
    }

    fn outlives_outage(&self) -> bool {
        self.options.stale_if_error && self.failing.is_some_and(|failure| !failure.is_refusal())
    }

    /// Schedules the first poll at a random time, so that a thousand clients that start together do not poll together.
    pub(super) fn plan_first_poll(&mut self, moment: Moment) {
        let interval = self.poll_interval();
        self.plan_poll_in(
            interval.map(|interval| spread(interval, moment.random)),
            moment,
        );
    }

    pub(super) fn plan_poll(&mut self, moment: Moment) {
        let wait = self.stream_lag().or_else(|| self.poll_interval());
        self.plan_poll_in(wait, moment);
    }

    /// Schedules the first poll after an outage at a random time, so that clients that recovered together do not poll
    /// together.
    pub(super) fn plan_poll_after_outage(&mut self, moment: Moment) {
        let wait = self.stream_lag().or_else(|| {
            let interval = self.poll_interval();
            interval.map(|interval| around(interval, moment.random))
        });
        self.plan_poll_in(wait, moment);
    }

    fn plan_poll_in(&mut self, wait: Option<u64>, moment: Moment) {
        let poll_at = wait.map(|wait| moment.now.saturating_add(wait).max(self.rest_until));
        self.poll_at = poll_at.filter(|_| !self.stream_confirms());
    }

    /// Returns the interval between polls. Without polling, expired TTLs trigger refreshes. If a refresh fails, no TTL
    /// is left to expire, so the client retries at the interval of its TTL.
    pub(super) fn poll_interval(&self) -> Option<u64> {
        match self.options.poll_interval {
            0 if self.failing.is_some() => Some(self.options.ttl),
            0 => None,
            interval => Some(interval),
        }
    }
}
