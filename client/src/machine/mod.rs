//! The state machine.

mod flags;
mod requests;
mod stream;

use alloc::string::String;
use alloc::vec::Vec;

use pennon_core::ttl::Ttl;

use crate::command::{Call, Command, Failure, Lifecycle};
use crate::event::{Event, Moment, Retry, Start};
use crate::lifetimes::Lifetimes;
use crate::options::Options;
use crate::retry::between_half_and_whole;
use requests::Request;
use stream::Stream;

/// The maximum delay of a timer, in milliseconds. Hosts store the delay in 31 bits, so a longer wait takes several
/// timers.
const LONGEST_TIMER: u64 = 0x7fff_ffff;

/// The interval between usage reports, in milliseconds.
const REPORT_INTERVAL: u64 = 60_000;

/// The state machine of a client. At most one request is pending at a time, and nothing happens after
/// [`Event::Shutdown`].
#[derive(Debug)]
pub struct Machine {
    options: Options,
    phase: Phase,
    request: Option<Request>,
    /// The number of the last request.
    requests: u32,
    /// The reaction to a failure of the first fetch.
    retry: Retry,
    /// True while a call of `initialize()` is pending.
    initialize_waits: bool,
    /// The deadline of that call.
    initialize_by: Option<u64>,
    /// True once the deadline has passed. The call then fails if the host's cache is empty.
    overdue: bool,
    /// True while a `refresh()` waits for the pending request.
    refresh_waits: bool,
    /// The tag of the config document being served.
    etag: Option<String>,
    lifetimes: Lifetimes,
    /// The cause, if the last request failed. Flags whose TTL then expires are removed at once.
    failing: Option<Failure>,
    /// The number of consecutive requests that were refused because of the key.
    refusals: u32,
    /// The time before which no request may start.
    rest_until: u64,
    poll_at: Option<u64>,
    stream: Stream,
    report_at: Option<u64>,
    /// The time at which the host's timer fires.
    timer: Option<u64>,
    commands: Vec<Command>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Initializing,
    /// The first request failed; the host's cache may have flags.
    Restoring {
        /// The cause.
        failure: Failure,
        /// The number of the request's last attempt.
        attempt: u32,
    },
    Ready,
    ShutDown,
}

impl Machine {
    /// Creates a client that has not been initialized.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            phase: Phase::Idle,
            request: None,
            requests: 0,
            retry: Retry::None,
            initialize_waits: false,
            initialize_by: None,
            overdue: false,
            refresh_waits: false,
            etag: None,
            lifetimes: Lifetimes::default(),
            failing: None,
            refusals: 0,
            rest_until: 0,
            poll_at: None,
            stream: Stream::Closed,
            report_at: None,
            timer: None,
            commands: Vec::new(),
        }
    }

    /// Handles an event and returns the commands that follow from it.
    pub fn handle(&mut self, event: Event, moment: Moment) -> Vec<Command> {
        match event {
            Event::Initialize(start) => self.initialize(start, moment),
            Event::Provided { flags, etag } => self.provided(&flags, etag, moment),
            Event::Resumed { flags, refreshing } => self.resumed(&flags, refreshing, moment),
            Event::Refresh => self.refresh(moment),
            Event::Reply { request, reply } => self.replied(request, reply, moment),
            Event::Unreachable { request } => self.unreachable(request, moment),
            Event::Restored(times) => self.restored(times, moment),
            Event::Stored {
                flags,
                age,
                max_age,
            } => self.stored(&flags, age, max_age, moment),
            Event::StreamTold { etag, spread } => self.stream_told(etag, spread, moment),
            Event::StreamAlive => self.stream_alive(moment),
            Event::StreamEnded {
                status,
                retry_after,
            } => self.stream_ended(status, retry_after, moment),
            Event::Timer => self.timer_fired(moment),
            Event::Shutdown => self.shut_down(),
        }
        self.adjust_timer(moment);
        core::mem::take(&mut self.commands)
    }

    /// Returns true if the response to this request would be used. Aborted requests are ignored, because their response
    /// may be outdated.
    pub fn awaits(&self, request: u32) -> bool {
        matches!(self.request, Some(Request::UnderWay { number, .. }) if number == request)
    }

    /// Returns the tag of the config document being served.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    fn initialize(&mut self, start: Start, moment: Moment) {
        match self.phase {
            Phase::Idle => {
                self.phase = Phase::Initializing;
                self.retry = start.retry;
                self.initialize_waits = true;
                self.initialize_by = start.deadline(moment);
                self.fetch(0, moment);
            }
            Phase::Initializing | Phase::Restoring { .. } => {
                self.retry = self.retry.max(start.retry);
                self.initialize_by = self.initialize_by.or(start.deadline(moment));
                let is_first = !core::mem::replace(&mut self.initialize_waits, true);
                if is_first && let Some(Request::Waiting { .. }) = self.request {
                    self.fetch(0, moment);
                }
            }
            Phase::Ready => self.settle(Call::Initialize, Ok(())),
            Phase::ShutDown => self.settle(Call::Initialize, Err(Failure::ShutDown)),
        }
    }

    /// Starts with a config document from the caller, without a request.
    fn provided(&mut self, flags: &[Option<Ttl>], etag: Option<String>, moment: Moment) {
        if self.phase == Phase::Idle {
            self.serve(flags, etag, moment);
            self.become_ready(moment);
        } else {
            self.initialize(Start::default(), moment);
        }
    }

    /// Takes over from a machine whose engine trapped. If a request was pending, its response may trap again, so the
    /// next request is delayed.
    fn resumed(&mut self, flags: &[Option<Ttl>], refreshing: bool, moment: Moment) {
        if self.phase != Phase::Idle {
            return;
        }
        self.phase = Phase::Ready;
        self.serve(flags, None, moment);
        self.begin_upkeep(moment);
        if refreshing {
            self.refresh_waits = true;
            self.give_up(0, Failure::Trapped, moment);
        }
    }

    fn refresh(&mut self, moment: Moment) {
        match self.phase {
            Phase::Idle => self.settle(Call::Refresh, Err(Failure::NotInitialized)),
            Phase::ShutDown => self.settle(Call::Refresh, Err(Failure::ShutDown)),
            Phase::Initializing | Phase::Restoring { .. } => self.refresh_waits = true,
            Phase::Ready => {
                self.refresh_waits = true;
                match self.request {
                    Some(Request::UnderWay { .. }) => {}
                    Some(Request::Waiting { .. }) => self.fetch(0, moment),
                    None => self.start_refresh(moment),
                }
            }
        }
    }

    fn become_ready(&mut self, moment: Moment) {
        self.phase = Phase::Ready;
        self.overdue = false;
        self.begin_upkeep(moment);
        self.emit(Lifecycle::Ready);
        self.settle_initialize(Ok(()));
    }

    /// Starts polling, the stream, and usage reports.
    fn begin_upkeep(&mut self, moment: Moment) {
        self.plan_first_poll(moment);
        if self.options.streaming {
            self.open_stream(0, moment);
        }
        if self.options.reports {
            self.plan_report(moment);
        }
    }

    fn timer_fired(&mut self, moment: Moment) {
        self.timer = None;
        self.look_after_deadline(moment);
        self.look_after_request(moment);
        if self.phase == Phase::Ready {
            self.look_after_stream(moment);
            self.look_after_flags(moment);
            if self
                .report_at
                .is_some_and(|report_at| report_at <= moment.now)
            {
                self.commands.push(Command::Report);
                self.plan_report(moment);
            }
        }
    }

    fn plan_report(&mut self, moment: Moment) {
        let wait = between_half_and_whole(REPORT_INTERVAL, moment.random);
        self.report_at = Some(moment.now.saturating_add(wait));
    }

    fn shut_down(&mut self) {
        let phase = core::mem::replace(&mut self.phase, Phase::ShutDown);
        if phase == Phase::ShutDown {
            return;
        }
        self.abort_request();
        self.close_stream();
        self.poll_at = None;
        self.report_at = None;
        self.etag = None;
        self.lifetimes = Lifetimes::default();
        self.commands.push(Command::Clear);
        if matches!(phase, Phase::Initializing | Phase::Restoring { .. }) {
            self.settle_initialize(Err(Failure::ShutDown));
        }
        self.settle_refresh(Err(Failure::ShutDown));
        self.emit(Lifecycle::Shutdown);
    }

    fn emit(&mut self, event: Lifecycle) {
        self.commands.push(Command::Emit(event));
    }

    fn settle(&mut self, call: Call, outcome: Result<(), Failure>) {
        self.commands.push(Command::Settle(call, outcome));
    }

    fn settle_initialize(&mut self, outcome: Result<(), Failure>) {
        self.initialize_waits = false;
        self.initialize_by = None;
        self.settle(Call::Initialize, outcome);
    }

    fn settle_refresh(&mut self, outcome: Result<(), Failure>) {
        if core::mem::take(&mut self.refresh_waits) {
            self.settle(Call::Refresh, outcome);
        }
    }

    /// Sets the host's only timer to the earliest scheduled action.
    fn adjust_timer(&mut self, moment: Moment) {
        let next = self.next_wake();
        if next == self.timer {
            return;
        }
        self.timer = next;
        self.commands.push(match next {
            Some(at) => Command::SetTimer(at.saturating_sub(moment.now).min(LONGEST_TIMER)),
            None => Command::ClearTimer,
        });
    }

    fn next_wake(&self) -> Option<u64> {
        let request = self.request.map(Request::wakes_at);
        let expiry = match self.phase {
            Phase::Ready => self.lifetimes.next(),
            _ => None,
        };
        let all = [
            request,
            self.initialize_by,
            self.poll_at,
            expiry,
            self.stream.wakes_at(),
            self.report_at,
        ];
        all.into_iter().flatten().min()
    }
}
