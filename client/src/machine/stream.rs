//! The stream of changes, which replaces polls while it works.

use alloc::string::String;

use super::Machine;
use super::requests::LONGEST_REST;
use crate::command::Command;
use crate::event::Moment;
use crate::retry::{backoff, refused, spread};

/// The time after which the client closes a stream that sends no data, in milliseconds. By default, the service sends
/// data every 15 s.
const SILENCE: u64 = 45_000;

/// The age from which a stream counts as stable, in milliseconds. If a stable stream ends, the next one opens soon.
/// Proxies that cut streams cut them earlier.
const GOOD_LIFE: u64 = 30_000;

/// The minimum delay between two streams, in milliseconds, regardless of the retry delay of requests.
const SHORTEST_WAIT: u64 = 1_000;

/// The time in which a change reaches all instances of the service, in milliseconds. The client then repeats its
/// request once.
const LAG: u64 = 500;

/// The default period over which clients spread their fetches, in milliseconds. Without it, all would fetch a change at
/// the same instant.
const SPREAD: u64 = 250;

/// The maximum period that the service may set, in milliseconds.
const LONGEST_SPREAD: u64 = 60_000;

#[derive(Debug)]
pub(super) enum Stream {
    /// No stream, and none is scheduled.
    Closed,
    /// The next stream is scheduled.
    Waiting { attempt: u32, until: u64 },
    /// Open. The client closes the stream if it sends no data until `silent_at`.
    Open {
        attempt: u32,
        opened_at: u64,
        silent_at: u64,
        /// The tag of the service's config document, once the stream has announced it.
        told: Option<String>,
        /// True if a response was older than the announced tag, and the request is being repeated.
        lagged: bool,
    },
}

impl Stream {
    pub(super) const fn wakes_at(&self) -> Option<u64> {
        match self {
            Self::Closed => None,
            Self::Waiting { until, .. } => Some(*until),
            Self::Open { silent_at, .. } => Some(*silent_at),
        }
    }
}

impl Machine {
    pub(super) fn open_stream(&mut self, attempt: u32, moment: Moment) {
        self.stream = Stream::Open {
            attempt,
            opened_at: moment.now,
            silent_at: moment.now.saturating_add(SILENCE),
            told: None,
            lagged: false,
        };
        self.commands.push(Command::Listen);
    }

    pub(super) fn close_stream(&mut self) {
        if let Stream::Open { .. } = core::mem::replace(&mut self.stream, Stream::Closed) {
            self.commands.push(Command::Unlisten);
        }
    }

    /// Returns true if the stream has announced the tag of the config document being served. Polls are then
    /// unnecessary.
    pub(super) fn stream_confirms(&self) -> bool {
        matches!(&self.stream, Stream::Open { told: Some(told), .. } if self.etag() == Some(told))
    }

    /// Returns the delay after which to repeat the request, if a response is older than the announced tag: another
    /// instance may have sent it. One repetition suffices, because the stream announces everything newer.
    pub(super) fn stream_lag(&mut self) -> Option<u64> {
        let confirmed = self.stream_confirms();
        let Stream::Open { told, lagged, .. } = &mut self.stream else {
            return None;
        };
        let lags = told.is_some() && !confirmed && !*lagged;
        *lagged |= lags;
        lags.then_some(LAG)
    }

    /// Handles the tag of the service's config document. A new one is fetched after a random delay.
    pub(super) fn stream_told(&mut self, etag: String, within: Option<u64>, moment: Moment) {
        let Stream::Open { told, lagged, .. } = &mut self.stream else {
            return;
        };
        *told = Some(etag);
        *lagged = false;
        self.stream_alive(moment);
        if self.stream_confirms() || self.request.is_some() {
            return;
        }
        let within = within.unwrap_or(SPREAD).min(LONGEST_SPREAD);
        let fetch_at = moment.now.saturating_add(spread(within, moment.random));
        let sooner = self.poll_at.map_or(fetch_at, |at| at.min(fetch_at));
        self.poll_at = Some(sooner.max(self.rest_until));
    }

    /// Handles any data on the stream, including keep-alives.
    pub(super) fn stream_alive(&mut self, moment: Moment) {
        let Stream::Open { silent_at, .. } = &mut self.stream else {
            return;
        };
        *silent_at = moment.now.saturating_add(SILENCE);
        if self.stream_confirms() && self.request.is_none() {
            self.poll_at = None;
            self.recover();
            self.confirm(moment);
        }
    }

    /// Handles the end of the stream. Polls replace the stream until it is back.
    pub(super) fn stream_ended(&mut self, status: u16, retry_after: Option<u64>, moment: Moment) {
        let Stream::Open {
            attempt, opened_at, ..
        } = self.stream
        else {
            return;
        };
        let lived = moment.now.saturating_sub(opened_at);
        let attempt = if lived < GOOD_LIFE { attempt } else { 0 };
        let wait = if matches!(status, 400..=499) && status != 429 {
            refused(attempt, moment.random)
        } else {
            let delay = self.options.retry_delay.max(SHORTEST_WAIT);
            backoff(delay, attempt, moment.random).max(retry_after.unwrap_or(0).min(LONGEST_REST))
        };
        self.stream = Stream::Waiting {
            attempt: attempt.saturating_add(1),
            until: moment.now.saturating_add(wait),
        };
        if self.request.is_none() && self.poll_at.is_none() {
            self.plan_first_poll(moment);
        }
    }

    pub(super) fn look_after_stream(&mut self, moment: Moment) {
        match self.stream {
            Stream::Waiting { attempt, until } if until <= moment.now => {
                self.open_stream(attempt, moment);
            }
            Stream::Open { silent_at, .. } if silent_at <= moment.now => {
                self.commands.push(Command::Unlisten);
                self.stream_ended(0, None, moment);
            }
            _ => {}
        }
    }
}
