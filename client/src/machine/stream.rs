//! The stream of changes, which replaces polls while it works.

use alloc::string::String;

use super::Machine;
use super::requests::MAX_RETRY_AFTER;
use crate::command::{Command, Failure, Lifecycle};
use crate::event::Moment;
use crate::retry::{backoff, refusal_backoff, spread};

/// The time after which the client closes a stream that sends no data, in milliseconds. By default, the server sends
/// data every 15 s.
const SILENCE_TIMEOUT: u64 = 45_000;

/// The age from which a stream counts as stable, in milliseconds. If a stable stream ends, the next one opens soon.
/// Proxies that cut streams cut them earlier.
const STABLE_AGE: u64 = 30_000;

/// The minimum delay between two streams, in milliseconds, regardless of the retry delay of requests.
const MIN_REOPEN_DELAY: u64 = 1_000;

/// The time in which a change reaches all instances of the server, in milliseconds. The client then repeats its
/// request once.
const PROPAGATION_DELAY: u64 = 500;

/// The default period over which clients spread their fetches, in milliseconds. Without it, all would fetch a change at
/// the same instant.
const DEFAULT_SPREAD: u64 = 250;

/// The maximum period that the server may set, in milliseconds.
const MAX_SPREAD: u64 = 60_000;

#[derive(Debug)]
pub(super) enum Stream {
    /// No stream, and none is scheduled.
    Closed,
    /// The next stream is scheduled.
    Waiting { attempt: u32, until: u64 },
    /// Open. The client closes the stream if it sends no data until `times_out_at`.
    Open {
        attempt: u32,
        opened_at: u64,
        times_out_at: u64,
        /// The tag of the server's config document, once the stream has announced it.
        announced: Option<String>,
        /// True if a response was older than the announced tag, and the request has been repeated.
        repeated: bool,
    },
}

impl Stream {
    pub(super) const fn wakes_at(&self) -> Option<u64> {
        match self {
            Self::Closed => None,
            Self::Waiting { until, .. } => Some(*until),
            Self::Open { times_out_at, .. } => Some(*times_out_at),
        }
    }
}

impl Machine {
    pub(super) fn open_stream(&mut self, attempt: u32, moment: Moment) {
        self.stream = Stream::Open {
            attempt,
            opened_at: moment.now,
            times_out_at: moment.now.saturating_add(SILENCE_TIMEOUT),
            announced: None,
            repeated: false,
        };
        self.commands.push(Command::Listen);
    }

    pub(super) fn close_stream(&mut self) {
        if let Stream::Open { .. } = core::mem::replace(&mut self.stream, Stream::Closed) {
            self.commands.push(Command::Unlisten);
        }
    }

    /// Returns true if the stream has announced the config document being served, or from which the served evaluations
    /// come. Polls are then unnecessary.
    pub(super) fn is_confirmed_by_stream(&self) -> bool {
        let Stream::Open {
            announced: Some(announced),
            ..
        } = &self.stream
        else {
            return false;
        };
        self.etag().is_some_and(|etag| belongs_to(etag, announced))
    }

    /// Returns the delay after which to repeat the request, if a response is older than the announced tag: another
    /// instance may have sent it. One repetition suffices, because the stream announces everything newer.
    pub(super) fn take_repeat_delay(&mut self) -> Option<u64> {
        let confirmed = self.is_confirmed_by_stream();
        let Stream::Open {
            announced,
            repeated,
            ..
        } = &mut self.stream
        else {
            return None;
        };
        let repeats = announced.is_some() && !confirmed && !*repeated;
        *repeated |= repeats;
        repeats.then_some(PROPAGATION_DELAY)
    }

    /// Handles the tag of the server's config document. A new document is fetched after a random delay of up to
    /// `period`.
    pub(super) fn on_stream_announced(
        &mut self,
        etag: String,
        period: Option<u64>,
        moment: Moment,
    ) {
        let Stream::Open {
            announced,
            repeated,
            ..
        } = &mut self.stream
        else {
            return;
        };
        *announced = Some(etag);
        *repeated = false;
        self.on_stream_alive(moment);
        if self.is_confirmed_by_stream() || self.request.is_some() {
            return;
        }
        let period = period.unwrap_or(DEFAULT_SPREAD).min(MAX_SPREAD);
        let fetch_at = moment.now.saturating_add(spread(period, moment.random));
        let poll_at = self.poll_at.map_or(fetch_at, |at| at.min(fetch_at));
        self.poll_at = Some(poll_at.max(self.backoff_until));
    }

    /// Handles any data on the stream, including keep-alives.
    pub(super) fn on_stream_alive(&mut self, moment: Moment) {
        let Stream::Open { times_out_at, .. } = &mut self.stream else {
            return;
        };
        *times_out_at = moment.now.saturating_add(SILENCE_TIMEOUT);
        if self.is_confirmed_by_stream() && self.request.is_none() {
            let was_failing = self.last_failure.is_some();
            self.poll_at = None;
            self.recover();
            self.confirm(0, moment);
            if was_failing {
                self.emit(Lifecycle::RefreshSuccess);
            }
        }
    }

    /// Handles the end of the stream. Polls replace the stream until it is back.
    pub(super) fn on_stream_ended(
        &mut self,
        status: u16,
        retry_after: Option<u64>,
        moment: Moment,
    ) {
        let Stream::Open {
            attempt, opened_at, ..
        } = self.stream
        else {
            return;
        };
        let age = moment.now.saturating_sub(opened_at);
        let attempt = if age < STABLE_AGE { attempt } else { 0 };
        let wait = if Failure::Status(status).is_refusal() {
            refusal_backoff(attempt, moment.random)
        } else {
            let delay = self.options.retry_delay.max(MIN_REOPEN_DELAY);
            backoff(delay, attempt, moment.random)
                .max(retry_after.unwrap_or(0).min(MAX_RETRY_AFTER))
        };
        self.stream = Stream::Waiting {
            attempt: attempt.saturating_add(1),
            until: moment.now.saturating_add(wait),
        };
        if self.request.is_none() && self.poll_at.is_none() {
            self.schedule_first_poll(moment);
        }
    }

    pub(super) fn check_stream(&mut self, moment: Moment) {
        match self.stream {
            Stream::Waiting { attempt, until } if until <= moment.now => {
                self.open_stream(attempt, moment);
            }
            Stream::Open { times_out_at, .. } if times_out_at <= moment.now => {
                self.commands.push(Command::Unlisten);
                self.on_stream_ended(0, None, moment);
            }
            _ => {}
        }
    }
}

/// Returns true if `etag` is the tag of this config document, or of evaluations that come from it, such as
/// `W/"document.context"` for `W/"document"`.
fn belongs_to(etag: &str, document: &str) -> bool {
    let stem = document.strip_suffix('"').unwrap_or(document);
    etag == document
        || etag
            .strip_prefix(stem)
            .is_some_and(|rest| rest.starts_with('.'))
}
