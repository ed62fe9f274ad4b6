//! When what is served must be looked after: polls, and times to live that are over.

use super::Machine;
use crate::command::Command;
use crate::event::Moment;
use crate::retry::{around, spread};

impl Machine {
    /// Expires what nobody could confirm, and begins the refresh that is due.
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

    /// Flags whose time is over are gone, unless they are to outlive an outage and this is one.
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

    /// A thousand clients that started together do not poll together.
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

    /// Plans the poll after an outage: clients that found the service back at the same time do not go on polling together.
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

    /// Who does not poll asks when a time to live is over. If that fails nothing is left whose time could be over, so it is
    /// asked on at the same pace.
    pub(super) fn poll_interval(&self) -> Option<u64> {
        match self.options.poll_interval {
            0 if self.failing.is_some() => Some(self.options.ttl),
            0 => None,
            interval => Some(interval),
        }
    }
}
