//! The state machine.

mod flags;
mod requests;
mod stream;

use alloc::string::String;
use alloc::vec::Vec;

use pennon_core::ttl::Ttl;

use crate::command::{Call, Command, Failure, Lifecycle};
use crate::event::{Event, InitializeOptions, Moment, Retry};
use crate::options::Options;
use crate::retry::between_half_and_whole;
use crate::ttl_timers::TtlTimers;
use requests::Request;
use stream::Stream;

/// The maximum delay of a timer, in milliseconds. Hosts store the delay in 31 bits, so a longer wait takes several
/// timers.
const MAX_TIMER_DELAY: u64 = 0x7fff_ffff;

/// The time until the first usage report, and the maximum interval between reports, in milliseconds.
const REPORT_INTERVAL: u64 = 60_000;

/// The state machine of a client. At most one request is pending at a time, and nothing happens after
/// [`Event::Shutdown`].
#[derive(Debug)]
pub struct Machine {
    options: Options,
    phase: Phase,
    request: Option<Request>,
    /// The number of the last request.
    last_request: u32,
    /// The reaction to a failure of the first fetch.
    retry: Retry,
    /// The pending call of `initialize()`, by its deadline.
    pending_initialize: Option<Deadline>,
    /// The kinds of calls other than `initialize()` that wait for the pending request.
    waiting_calls: Vec<Call>,
    /// The tag of the config document or of the evaluations being served. None while the host waits for evaluations for
    /// another context.
    etag: Option<String>,
    ttl_timers: TtlTimers,
    /// The cause, if the last request failed. Flags whose TTL then expires are removed at once.
    last_failure: Option<Failure>,
    /// The number of consecutive requests that were refused because of the key.
    refusals: u32,
    /// The time before which no request may start.
    backoff_until: u64,
    /// The time before which no refresh may start because of an expired TTL.
    next_ttl_refresh: u64,
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

/// The deadline of a call of `initialize()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deadline {
    /// The call waits for all attempts.
    Unlimited,
    At(u64),
    /// The call fails if the host's cache is empty.
    Passed,
}

impl Machine {
    /// Creates a client that has not been initialized.
    pub const fn new(options: Options) -> Self {
        Self {
            options,
            phase: Phase::Idle,
            request: None,
            last_request: 0,
            retry: Retry::None,
            pending_initialize: None,
            waiting_calls: Vec::new(),
            etag: None,
            ttl_timers: TtlTimers::NONE,
            last_failure: None,
            refusals: 0,
            backoff_until: 0,
            next_ttl_refresh: 0,
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
            Event::Bootstrap { flags, etag } => self.on_bootstrap(&flags, etag, moment),
            Event::Resumed { flags, refreshing } => self.on_resumed(&flags, refreshing, moment),
            Event::Served { times, is_ready } => self.on_served(times, is_ready, moment),
            Event::Refresh => self.refresh(moment),
            Event::ContextChanged => self.change_context(moment),
            Event::Reply { request, reply } => self.on_reply(request, reply, moment),
            Event::Unreachable { request } => self.on_unreachable(request, moment),
            Event::Restored(times) => self.on_restored(times, moment),
            Event::Stored {
                flags,
                age,
                max_age,
            } => self.on_stored(&flags, age, max_age, moment),
            Event::StreamAnnounced { etag, spread } => {
                self.on_stream_announced(etag, spread, moment);
            }
            Event::StreamAlive => self.on_stream_alive(moment),
            Event::StreamEnded {
                status,
                retry_after,
            } => self.on_stream_ended(status, retry_after, moment),
            Event::Timer => self.on_timer(moment),
            Event::Shutdown => self.shut_down(),
        }
        self.adjust_timer(moment);
        core::mem::take(&mut self.commands)
    }

    /// Returns true if the response to this request would be used. Aborted requests are ignored, because their response
    /// may be outdated.
    pub fn awaits(&self, request: u32) -> bool {
        matches!(self.request, Some(Request::Pending { number, .. }) if number == request)
    }

    /// Returns the tag of the config document or of the evaluations being served.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    fn initialize(&mut self, start: InitializeOptions, moment: Moment) {
        let deadline = start
            .deadline(moment)
            .map_or(Deadline::Unlimited, Deadline::At);
        match self.phase {
            Phase::Idle => {
                self.phase = Phase::Initializing;
                self.retry = start.retry;
                self.pending_initialize = Some(deadline);
                self.fetch(0, moment);
            }
            Phase::Initializing | Phase::Restoring { .. } => {
                self.retry = self.retry.max(start.retry);
                let before = self.pending_initialize;
                if matches!(before, None | Some(Deadline::Unlimited)) {
                    self.pending_initialize = Some(deadline);
                }
                if before.is_none()
                    && let Some(Request::Waiting { .. }) = self.request
                {
                    self.fetch(0, moment);
                }
            }
            Phase::Ready => self.settle(Call::Initialize, Ok(())),
            Phase::ShutDown => self.settle(Call::Initialize, Err(Failure::ShutDown)),
        }
    }

    /// Starts with a config document from the caller, without a request.
    fn on_bootstrap(&mut self, flags: &[Option<Ttl>], etag: Option<String>, moment: Moment) {
        if self.phase == Phase::Idle {
            self.serve(flags, etag, 0, moment);
            self.become_ready(moment);
        } else {
            self.initialize(InitializeOptions::default(), moment);
        }
    }

    /// Takes over from a machine whose engine trapped. If a request was pending, its response may trap again, so the
    /// next request is delayed.
    fn on_resumed(&mut self, flags: &[Option<Ttl>], refreshing: bool, moment: Moment) {
        if self.phase != Phase::Idle {
            return;
        }
        self.phase = Phase::Ready;
        self.serve(flags, None, 0, moment);
        self.start_background_tasks(moment);
        if refreshing {
            self.await_request(Call::Refresh);
            self.give_up(0, Failure::Trapped, moment);
        }
    }

    /// Runs the TTLs of flags that the host already serves. If the client is ready, a pending request becomes a
    /// refresh.
    fn on_served(&mut self, times: Vec<u64>, is_ready: bool, moment: Moment) {
        if matches!(self.phase, Phase::Ready | Phase::ShutDown) {
            return;
        }
        self.ttl_timers = TtlTimers::start(moment.now, 0, times);
        if is_ready {
            self.phase = Phase::Ready;
            self.start_background_tasks(moment);
            self.settle_initialize(Ok(()));
            // The next poll is scheduled when the request has ended.
            self.poll_at = None;
            if self.request.is_none() {
                self.start_refresh(moment);
            } else {
                self.emit(Lifecycle::RefreshStart);
            }
        }
    }

    fn refresh(&mut self, moment: Moment) {
        match self.phase {
            Phase::Idle => self.settle(Call::Refresh, Err(Failure::NotInitialized)),
            Phase::ShutDown => self.settle(Call::Refresh, Err(Failure::ShutDown)),
            Phase::Initializing | Phase::Restoring { .. } | Phase::Ready => {
                self.await_request(Call::Refresh);
                match (self.phase, self.request) {
                    (_, Some(Request::Waiting { .. })) => self.fetch(0, moment),
                    (Phase::Ready, None) => self.start_refresh(moment),
                    // The outcome of the request follows.
                    _ => {}
                }
            }
        }
    }

    /// Requests the evaluations for another context. A response for the previous context is never used. Until then, the
    /// host serves the previous evaluations, whose TTLs continue.
    fn change_context(&mut self, moment: Moment) {
        self.etag = None;
        match self.phase {
            // The first request asks for the new context.
            Phase::Idle => self.settle(Call::SetContext, Ok(())),
            Phase::ShutDown => self.settle(Call::SetContext, Err(Failure::ShutDown)),
            Phase::Initializing | Phase::Restoring { .. } | Phase::Ready => {
                self.await_request(Call::SetContext);
                self.repeat_request(moment);
            }
        }
    }

    /// Replaces the pending request, if any, because it asks for the previous context.
    fn repeat_request(&mut self, moment: Moment) {
        match (self.phase, self.request) {
            (Phase::Ready, None) => self.start_refresh(moment),
            // The request has failed, and its outcome follows.
            (Phase::Restoring { .. }, None) => {}
            _ => {
                self.abort_request();
                self.fetch(0, moment);
            }
        }
    }

    fn become_ready(&mut self, moment: Moment) {
        self.phase = Phase::Ready;
        self.start_background_tasks(moment);
        self.emit(Lifecycle::Ready);
        self.settle_initialize(Ok(()));
    }

    /// Starts polling, the stream, and usage reports.
    fn start_background_tasks(&mut self, moment: Moment) {
        self.schedule_first_poll(moment);
        if self.options.streaming {
            self.open_stream(0, moment);
        }
        if self.options.report_usage {
            self.report_at = Some(moment.now.saturating_add(REPORT_INTERVAL));
        }
    }

    fn on_timer(&mut self, moment: Moment) {
        self.timer = None;
        self.check_deadline(moment);
        self.check_request(moment);
        self.check_stream(moment);
        self.check_flags(moment);
        if self
            .report_at
            .is_some_and(|report_at| report_at <= moment.now)
        {
            self.commands.push(Command::Report);
            self.schedule_report(moment);
        }
    }

    fn schedule_report(&mut self, moment: Moment) {
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
        self.ttl_timers = TtlTimers::NONE;
        self.commands.push(Command::Clear);
        if matches!(phase, Phase::Initializing | Phase::Restoring { .. }) {
            self.settle_initialize(Err(Failure::ShutDown));
        }
        self.settle_waiting_calls(Err(Failure::ShutDown));
        self.emit(Lifecycle::Shutdown);
    }

    fn emit(&mut self, event: Lifecycle) {
        self.commands.push(Command::Emit(event));
    }

    fn settle(&mut self, call: Call, outcome: Result<(), Failure>) {
        self.commands.push(Command::Settle(call, outcome));
    }

    /// Settles the call together with the pending request.
    fn await_request(&mut self, call: Call) {
        if !self.waiting_calls.contains(&call) {
            self.waiting_calls.push(call);
        }
    }

    fn settle_initialize(&mut self, outcome: Result<(), Failure>) {
        self.pending_initialize = None;
        self.settle(Call::Initialize, outcome);
    }

    /// Settles the calls that wait for the pending request, except `initialize()`.
    fn settle_waiting_calls(&mut self, outcome: Result<(), Failure>) {
        for call in core::mem::take(&mut self.waiting_calls) {
            self.settle(call, outcome);
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
            Some(at) => Command::SetTimer(at.saturating_sub(moment.now).min(MAX_TIMER_DELAY)),
            None => Command::ClearTimer,
        });
    }

    fn next_wake(&self) -> Option<u64> {
        let request = self.request.map(Request::wakes_at);
        let deadline = match self.pending_initialize {
            Some(Deadline::At(deadline)) => Some(deadline),
            _ => None,
        };
        let all = [
            request,
            deadline,
            self.poll_at,
            self.ttl_timers.next_expiry(),
            self.stream.wakes_at(),
            self.report_at,
        ];
        all.into_iter().flatten().min()
    }
}
