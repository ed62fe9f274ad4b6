//! Requests for the config document or for evaluations, their responses and retries.

use alloc::string::String;
use alloc::vec::Vec;

use pennon_core::ttl::Ttl;

use super::flags::MIN_TTL_REFRESH_INTERVAL;
use super::{Deadline, Machine, Phase};
use crate::command::{Command, Failure, Lifecycle};
use crate::event::{Moment, Reply, Retry};
use crate::retry::{MAX_BACKOFF, backoff, between_half_and_whole, refusal_backoff};
use crate::ttl_timers::TtlTimers;

/// The maximum `Retry-After` that the client respects, in milliseconds. A longer time comes from a broken clock.
pub(super) const MAX_RETRY_AFTER: u64 = 60 * 60 * 1_000;

/// The minimum initial delay of unlimited retries, in milliseconds.
const MIN_RETRY_DELAY: u64 = 1_000;

#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    Pending {
        number: u32,
        attempt: u32,
        times_out_at: u64,
    },
    /// The last attempt failed, and this attempt follows.
    Waiting {
        attempt: u32,
        until: u64,
        failure: Failure,
    },
}

impl Request {
    pub(super) const fn wakes_at(self) -> u64 {
        match self {
            Self::Pending { times_out_at, .. } => times_out_at,
            Self::Waiting { until, .. } => until,
        }
    }
}

impl Machine {
    pub(super) fn start_refresh(&mut self, moment: Moment) {
        self.next_ttl_refresh = moment.now.saturating_add(MIN_TTL_REFRESH_INTERVAL);
        self.emit(Lifecycle::RefreshStart);
        self.fetch(0, moment);
    }

    pub(super) fn fetch(&mut self, attempt: u32, moment: Moment) {
        self.last_request = self.last_request.wrapping_add(1);
        self.poll_at = None;
        self.request = Some(Request::Pending {
            number: self.last_request,
            attempt,
            times_out_at: moment.now.saturating_add(self.options.timeout),
        });
        self.commands.push(Command::Fetch {
            request: self.last_request,
            attempt,
        });
    }

    /// Aborts an attempt that has timed out, or starts one whose delay has passed.
    pub(super) fn check_request(&mut self, moment: Moment) {
        match self.request {
            Some(Request::Pending {
                attempt,
                times_out_at,
                ..
            }) if times_out_at <= moment.now => {
                self.request = None;
                self.commands.push(Command::Abort);
                self.fail(attempt, Failure::TimedOut, None, moment);
            }
            Some(Request::Waiting { attempt, until, .. }) if until <= moment.now => {
                self.fetch(attempt, moment);
            }
            _ => {}
        }
    }

    /// Ends a call of `initialize()` at its deadline.
    pub(super) fn check_deadline(&mut self, moment: Moment) {
        let has_passed = matches!(
            self.pending_initialize,
            Some(Deadline::At(deadline)) if deadline <= moment.now
        );
        if !has_passed {
            return;
        }
        self.pending_initialize = Some(Deadline::Passed);
        match self.request {
            // The request continues without the call, unless the host has flags.
            Some(Request::Pending { attempt, .. }) if self.retry != Retry::None => {
                self.restore(attempt, Failure::TimedOut);
            }
            Some(Request::Pending { attempt, .. }) => {
                self.abort_request();
                self.give_up(attempt, Failure::TimedOut, moment);
            }
            Some(Request::Waiting {
                attempt, failure, ..
            }) => {
                self.request = None;
                self.give_up(attempt.saturating_sub(1), failure, moment);
            }
            None => {}
        }
    }

    pub(super) fn abort_request(&mut self) {
        if let Some(Request::Pending { .. }) = self.request.take() {
            self.commands.push(Command::Abort);
        }
    }

    /// Ends the pending attempt if this is its number, and returns it.
    fn end_attempt(&mut self, request: u32) -> Option<u32> {
        match self.request {
            Some(Request::Pending {
                number, attempt, ..
            }) if number == request => {
                self.request = None;
                Some(attempt)
            }
            _ => None,
        }
    }

    pub(super) fn on_reply(&mut self, request: u32, reply: Reply, moment: Moment) {
        let Some(attempt) = self.end_attempt(request) else {
            return;
        };
        match (reply.status, reply.flags) {
            (200, Some(flags)) => {
                self.serve(&flags, reply.etag, reply.age, moment);
                self.succeed(moment);
            }
            (200, None) => self.fail(attempt, Failure::Malformed, None, moment),
            (304, _) if self.etag.is_some() => {
                self.confirm(reply.age, moment);
                self.succeed(moment);
            }
            (status, _) => {
                self.fail(attempt, Failure::Status(status), reply.retry_after, moment);
            }
        }
    }

    pub(super) fn on_unreachable(&mut self, request: u32, moment: Moment) {
        if let Some(attempt) = self.end_attempt(request) {
            self.fail(attempt, Failure::Unreachable, None, moment);
        }
    }

    fn succeed(&mut self, moment: Moment) {
        let was_failing = self.last_failure.is_some();
        self.recover();
        if self.phase == Phase::Ready {
            if was_failing {
                self.schedule_poll_after_outage(moment);
            } else {
                self.schedule_poll(moment);
            }
            // Settle first: a refresh that a listener starts is a new one.
            self.settle_waiting_calls(Ok(()));
            self.emit(Lifecycle::RefreshSuccess);
        } else {
            self.become_ready(moment);
            self.settle_waiting_calls(Ok(()));
        }
    }

    /// Resets the record of failures, because the server has confirmed the flags.
    pub(super) fn recover(&mut self) {
        self.last_failure = None;
        self.refusals = 0;
        self.backoff_until = 0;
    }

    /// Handles a failed attempt: schedules a retry, unless it would be pointless, none is left, or `Retry-After`
    /// exceeds [`MAX_BACKOFF`].
    fn fail(&mut self, attempt: u32, failure: Failure, retry_after: Option<u64>, moment: Moment) {
        let retry_after = retry_after.map(|wait| wait.min(MAX_RETRY_AFTER));
        let least_wait = retry_after.unwrap_or(0);
        let is_transient = failure.is_transient(self.phase == Phase::Ready);
        if is_transient && attempt < self.options.retries && least_wait <= MAX_BACKOFF {
            let wait = self.next_retry_delay(attempt, moment).max(least_wait);
            self.request = Some(Request::Waiting {
                attempt: attempt.saturating_add(1),
                until: moment.now.saturating_add(wait),
                failure,
            });
        } else {
            // An earlier `Retry-After` still holds if a refresh on request fails without one.
            if let Some(wait) = retry_after {
                self.backoff_until = moment.now.saturating_add(wait);
            }
            self.give_up(attempt, failure, moment);
        }
    }

    /// Returns the delay before the next attempt. Once a refresh has failed with all its retries, the server is known
    /// to be down. Retries without a waiting caller are then as far apart as polls, but at most 30 s. Otherwise, a
    /// recovering server would receive four times its usual load.
    fn next_retry_delay(&self, attempt: u32, moment: Moment) -> u64 {
        let usual = backoff(self.options.retry_delay, attempt, moment.random);
        match self.poll_interval() {
            Some(interval) if self.is_in_outage() && self.waiting_calls.is_empty() => usual.max(
                between_half_and_whole(interval.min(MAX_BACKOFF), moment.random),
            ),
            _ => usual,
        }
    }

    /// Returns true if the last refresh failed with all its retries.
    fn is_in_outage(&self) -> bool {
        self.phase == Phase::Ready && self.last_failure.is_some()
    }

    /// Handles the final failure of a request, which may delay the next one.
    pub(super) fn give_up(&mut self, attempt: u32, failure: Failure, moment: Moment) {
        self.last_failure = Some(failure);
        let delay = self.next_request_delay(failure, moment);
        self.backoff_until = self.backoff_until.max(moment.now.saturating_add(delay));
        if failure.is_refusal() {
            self.ttl_timers.end_minimum();
        }
        self.expire(moment);
        match self.phase {
            Phase::Ready => {
                self.schedule_poll(moment);
                self.settle_waiting_calls(Err(failure));
                self.emit(Lifecycle::RefreshError(failure));
            }
            _ if failure.is_refusal() => self.fail_initialize(attempt, failure, moment),
            _ => self.restore(attempt, failure),
        }
    }

    /// Requests the flags that the host has stored.
    fn restore(&mut self, attempt: u32, failure: Failure) {
        self.phase = Phase::Restoring { failure, attempt };
        self.commands.push(Command::Restore);
    }

    /// Returns the time for which further requests are pointless, in milliseconds.
    fn next_request_delay(&mut self, failure: Failure, moment: Moment) -> u64 {
        match failure {
            Failure::Status(401 | 403) => {
                let refusals = self.refusals;
                self.refusals = refusals.saturating_add(1);
                refusal_backoff(refusals, moment.random)
            }
            Failure::Trapped => between_half_and_whole(MAX_BACKOFF, moment.random),
            _ => 0,
        }
    }

    /// Handles an `initialize()` for which neither the server nor the host has flags.
    fn fail_initialize(&mut self, attempt: u32, failure: Failure, moment: Moment) {
        let call_fails = match self.retry {
            Retry::None => true,
            Retry::Background => self.pending_initialize.is_some(),
            Retry::Forever => self.pending_initialize == Some(Deadline::Passed),
        };
        if self.retry == Retry::None {
            self.phase = Phase::Idle;
        } else {
            self.phase = Phase::Initializing;
            self.schedule_attempt_after(attempt, failure, moment);
        }
        // The host reports a refusal even if no call is pending.
        if call_fails || !failure.is_transient(false) {
            self.settle_initialize(Err(failure));
        }
        // The deadline of `initialize()` does not end a request for which other calls wait.
        if !matches!(self.request, Some(Request::Pending { .. })) {
            self.settle_waiting_calls(Err(failure));
        }
    }

    /// Schedules another attempt to initialize, unless one is pending.
    fn schedule_attempt_after(&mut self, attempt: u32, failure: Failure, moment: Moment) {
        if self.request.is_none() {
            let delay = self.options.retry_delay.max(MIN_RETRY_DELAY);
            let wait = backoff(delay, attempt, moment.random);
            self.request = Some(Request::Waiting {
                attempt: attempt.saturating_add(1),
                until: moment.now.saturating_add(wait).max(self.backoff_until),
                failure,
            });
        }
    }

    pub(super) fn on_restored(&mut self, times: Vec<u64>, moment: Moment) {
        let Phase::Restoring { failure, attempt } = self.phase else {
            return;
        };
        if times.iter().all(|time| *time == 0) {
            self.fail_initialize(attempt, failure, moment);
        } else {
            self.become_ready_with(TtlTimers::start(moment.now, 0, times), moment);
        }
    }

    /// Becomes ready with the flags that the host serves.
    fn become_ready_with(&mut self, ttl_timers: TtlTimers, moment: Moment) {
        let Phase::Restoring { failure, .. } = self.phase else {
            return;
        };
        self.abort_request();
        // After a request that was aborted, this schedules the next one.
        self.last_failure = Some(failure);
        self.ttl_timers = ttl_timers;
        self.become_ready(moment);
        self.settle_waiting_calls(Err(failure));
    }

    /// Serves the newest config document, whose flags have these TTLs. A cache kept it for `age` milliseconds.
    pub(super) fn serve(
        &mut self,
        flags: &[Option<Ttl>],
        etag: Option<String>,
        age: u64,
        moment: Moment,
    ) {
        let times = flags.iter().map(|ttl| self.ttl_millis(*ttl));
        self.ttl_timers = TtlTimers::start(moment.now, age, times.collect());
        self.etag = etag;
        self.commands.push(Command::Apply);
    }

    /// Becomes ready with a config document from the host's store. The client does not send that document's tag,
    /// because a `304 Not Modified` would restart the extended TTLs instead of the flags' own.
    pub(super) fn on_stored(
        &mut self,
        flags: &[Option<Ttl>],
        age: u64,
        max_age: u64,
        moment: Moment,
    ) {
        let times = flags.iter().map(|ttl| self.ttl_millis(*ttl));
        let remaining = times.map(|time| time.saturating_sub(age).max(1));
        let minimum = max_age.saturating_sub(age);
        let ttl_timers = TtlTimers::start_with_minimum(moment.now, minimum, remaining.collect());
        self.become_ready_with(ttl_timers, moment);
    }

    /// Returns the TTL of a flag in milliseconds.
    fn ttl_millis(&self, ttl: Option<Ttl>) -> u64 {
        ttl.map_or(self.options.ttl, |ttl| {
            u64::from(ttl.seconds()).saturating_mul(1_000)
        })
    }

    /// Handles the confirmation, `age` milliseconds ago, that the client serves the server's current config document.
    pub(super) fn confirm(&mut self, age: u64, moment: Moment) {
        let expired = self.ttl_timers.renew(moment.now, age);
        self.commands.push(if expired {
            Command::Apply
        } else {
            Command::Renew
        });
    }
}
