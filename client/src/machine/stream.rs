//! The stream of changes, in place of polls for as long as it is alive.

use alloc::string::String;

use super::Machine;
use super::requests::LONGEST_REST;
use crate::command::Command;
use crate::event::Moment;
use crate::retry::{backoff, refused, spread};

/// The service sends something every 15 s unless it is told otherwise. A stream that is silent for longer than this is
/// dead.
const SILENCE: u64 = 45_000;

/// A stream that lived for so long was a good one, and so the next is opened soon. Proxies that cut streams do it sooner.
const GOOD_LIFE: u64 = 30_000;

/// The least that lies between two streams, whatever the delay between the attempts of a request.
const SHORTEST_WAIT: u64 = 1_000;

/// How long another instance of the service may take to hear of a change; after this it is asked once more.
const LAG: u64 = 500;

/// All clients hear of a change in the same instant. They fetch it within this time, in milliseconds, unless the service
/// asks for another.
const SPREAD: u64 = 250;

/// The longest time that the service may ask for.
const LONGEST_SPREAD: u64 = 60_000;

#[derive(Debug)]
pub(super) enum Stream {
    /// There is none, and none is meant to be.
    Closed,
    /// It will be opened again.
    Waiting { attempt: u32, until: u64 },
    /// It has been opened, and is given up when it says nothing until then.
    Open {
        attempt: u32,
        opened_at: u64,
        silent_at: u64,
        /// The tag of the configuration that the service has, once it has told.
        told: Option<String>,
        /// An answer was older than what the stream had told, and has been asked for again.
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

    /// Whether the service has said on the stream that what is served is what it has. Nobody needs to poll then.
    pub(super) fn stream_confirms(&self) -> bool {
        matches!(&self.stream, Stream::Open { told: Some(told), .. } if self.etag() == Some(told))
    }

    /// How soon to ask once more where an answer is older than what the stream has told: another instance of the service
    /// may have given it. Only once, as the stream tells of everything that is newer.
    pub(super) fn stream_lag(&mut self) -> Option<u64> {
        let confirmed = self.stream_confirms();
        let Stream::Open { told, lagged, .. } = &mut self.stream else {
            return None;
        };
        let lags = told.is_some() && !confirmed && !*lagged;
        *lagged |= lags;
        lags.then_some(LAG)
    }

    /// The stream says which configuration the service has. A new one is fetched after a random wait.
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

    /// The stream has said something, if only that it is alive.
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

    /// The stream is over: polls take its place until it is back.
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
