//! The life of a client.

use alloc::boxed::Box;
use alloc::vec::Vec;

use pennon_core::model::configuration::Ttl;

use crate::command::{Call, Command, Failure, Lifecycle};
use crate::event::{Event, Moment, Reply};
use crate::lifetimes::Lifetimes;
use crate::options::Options;
use crate::retry::{CEILING, backoff};

/// Hosts keep a timer's delay in 31 bits; a longer wait is made of several.
const LONGEST_TIMER: u64 = 0x7fff_ffff;

/// A service that asks to be left alone for longer than an hour has lost its clock.
const LONGEST_REST: u64 = 60 * 60 * 1_000;

/// Decides what a client does next. There is one request at a time at most, and after [`Event::Shutdown`] nothing
/// happens any more.
#[derive(Debug)]
pub struct Machine {
    options: Options,
    phase: Phase,
    request: Option<Request>,
    /// The number of the last request.
    requests: u32,
    /// A `refresh()` waits for the request under way.
    refresh_waits: bool,
    /// The tag of the configuration being served.
    etag: Option<Box<str>>,
    lifetimes: Lifetimes,
    /// The last request ended in failure: what runs out of time is gone at once.
    failing: bool,
    /// The service asked to be left alone until then.
    rest_until: u64,
    poll_at: Option<u64>,
    /// What the host's timer is set to.
    timer: Option<u64>,
    commands: Vec<Command>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Initializing,
    /// The first request failed for this reason; the host's own cache may have something.
    Restoring(Failure),
    Ready,
    ShutDown,
}

#[derive(Clone, Copy, Debug)]
enum Request {
    UnderWay {
        number: u32,
        attempt: u32,
        times_out_at: u64,
    },
    /// The last attempt failed; this is the next one.
    Waiting { attempt: u32, until: u64 },
}

impl Machine {
    /// A client that has not been initialised.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            phase: Phase::Idle,
            request: None,
            requests: 0,
            refresh_waits: false,
            etag: None,
            lifetimes: Lifetimes::default(),
            failing: false,
            rest_until: 0,
            poll_at: None,
            timer: None,
            commands: Vec::new(),
        }
    }

    /// What to do now that `event` has happened.
    pub fn handle(&mut self, event: Event, moment: Moment) -> Vec<Command> {
        match event {
            Event::Initialize => self.initialize(moment),
            Event::Refresh => self.refresh(moment),
            Event::Reply { request, reply } => self.replied(request, reply, moment),
            Event::Unreachable { request } => self.unreachable(request, moment),
            Event::Restored(times) => self.restored(times, moment),
            Event::Timer => self.timer_fired(moment),
            Event::Shutdown => self.shut_down(),
        }
        self.adjust_timer(moment);
        core::mem::take(&mut self.commands)
    }

    /// Whether an answer to this request would count. The answer to one given up does not: something newer may be there.
    pub fn awaits(&self, request: u32) -> bool {
        matches!(self.request, Some(Request::UnderWay { number, .. }) if number == request)
    }

    fn initialize(&mut self, moment: Moment) {
        match self.phase {
            Phase::Idle => {
                self.phase = Phase::Initializing;
                self.fetch(0, moment);
            }
            Phase::Initializing | Phase::Restoring(_) => {}
            Phase::Ready => self.settle(Call::Initialize, Ok(())),
            Phase::ShutDown => self.settle(Call::Initialize, Err(Failure::ShutDown)),
        }
    }

    fn refresh(&mut self, moment: Moment) {
        match self.phase {
            Phase::Idle => self.settle(Call::Refresh, Err(Failure::NotInitialized)),
            Phase::ShutDown => self.settle(Call::Refresh, Err(Failure::ShutDown)),
            Phase::Initializing | Phase::Restoring(_) => self.refresh_waits = true,
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

    fn start_refresh(&mut self, moment: Moment) {
        self.emit(Lifecycle::RefreshStart);
        self.fetch(0, moment);
    }

    fn fetch(&mut self, attempt: u32, moment: Moment) {
        self.requests = self.requests.wrapping_add(1);
        self.poll_at = None;
        self.request = Some(Request::UnderWay {
            number: self.requests,
            attempt,
            times_out_at: moment.now.saturating_add(self.options.timeout),
        });
        self.commands.push(Command::Fetch {
            request: self.requests,
            attempt,
            etag: self.etag.clone(),
        });
    }

    /// The attempt that this answer belongs to, unless it was given up.
    fn end_attempt(&mut self, request: u32) -> Option<u32> {
        match self.request {
            Some(Request::UnderWay {
                number, attempt, ..
            }) if number == request => {
                self.request = None;
                Some(attempt)
            }
            _ => None,
        }
    }

    fn replied(&mut self, request: u32, reply: Reply, moment: Moment) {
        let Some(attempt) = self.end_attempt(request) else {
            return;
        };
        match (reply.status, reply.flags) {
            (200, Some(flags)) => self.configured(reply.etag, &flags, moment),
            (200, None) => self.fail(attempt, Failure::Malformed, None, moment),
            (304, _) if self.etag.is_some() => self.confirmed(moment),
            (status, _) => {
                self.fail(attempt, Failure::Status(status), reply.retry_after, moment);
            }
        }
    }

    fn unreachable(&mut self, request: u32, moment: Moment) {
        if let Some(attempt) = self.end_attempt(request) {
            self.fail(attempt, Failure::Unreachable, None, moment);
        }
    }

    fn configured(&mut self, etag: Option<Box<str>>, flags: &[Option<Ttl>], moment: Moment) {
        let default = self.options.ttl;
        let times = flags.iter().map(|ttl| {
            ttl.map_or(default, |ttl| {
                u64::from(ttl.seconds()).saturating_mul(1_000)
            })
        });
        self.lifetimes = Lifetimes::start(moment.now, times.collect());
        self.etag = etag;
        self.commands.push(Command::Apply);
        self.succeed(moment);
    }

    fn confirmed(&mut self, moment: Moment) {
        let expired = self.lifetimes.renew(moment.now);
        self.commands.push(if expired {
            Command::Apply
        } else {
            Command::Renew
        });
        self.succeed(moment);
    }

    fn succeed(&mut self, moment: Moment) {
        self.failing = false;
        self.rest_until = 0;
        self.plan_poll(moment);
        if self.phase == Phase::Ready {
            self.emit(Lifecycle::RefreshSuccess);
        } else {
            self.become_ready();
        }
        self.settle_refresh(Ok(()));
    }

    fn become_ready(&mut self) {
        self.phase = Phase::Ready;
        self.emit(Lifecycle::Ready);
        self.settle(Call::Initialize, Ok(()));
    }

    /// An attempt failed: there is another one, unless it would be in vain or the service asks for a longer wait.
    fn fail(&mut self, attempt: u32, failure: Failure, retry_after: Option<u64>, moment: Moment) {
        let asked = retry_after.unwrap_or(0).min(LONGEST_REST);
        if failure.is_passing() && attempt < self.options.retries && asked <= CEILING {
            let wait = backoff(self.options.retry_delay, attempt, moment.random).max(asked);
            self.request = Some(Request::Waiting {
                attempt: attempt.saturating_add(1),
                until: moment.now.saturating_add(wait),
            });
        } else {
            self.rest_until = moment.now.saturating_add(asked);
            self.give_up(failure, moment);
        }
    }

    fn give_up(&mut self, failure: Failure, moment: Moment) {
        self.failing = true;
        match self.phase {
            Phase::Ready => {
                self.expire(moment);
                self.plan_poll(moment);
                self.emit(Lifecycle::RefreshError(failure));
                self.settle_refresh(Err(failure));
            }
            _ if failure.is_refusal() => self.fail_initialize(failure),
            _ => {
                self.phase = Phase::Restoring(failure);
                self.commands.push(Command::Restore);
            }
        }
    }

    fn fail_initialize(&mut self, failure: Failure) {
        self.phase = Phase::Idle;
        self.settle(Call::Initialize, Err(failure));
        self.settle_refresh(Err(failure));
    }

    fn restored(&mut self, times: Vec<u64>, moment: Moment) {
        let Phase::Restoring(failure) = self.phase else {
            return;
        };
        if times.is_empty() {
            self.fail_initialize(failure);
        } else {
            self.lifetimes = Lifetimes::start(moment.now, times);
            self.plan_poll(moment);
            self.become_ready();
            self.settle_refresh(Err(failure));
        }
    }

    fn timer_fired(&mut self, moment: Moment) {
        self.timer = None;
        match self.request {
            Some(Request::UnderWay {
                attempt,
                times_out_at,
                ..
            }) if times_out_at <= moment.now => {
                self.request = None;
                self.commands.push(Command::Abort);
                self.fail(attempt, Failure::TimedOut, None, moment);
            }
            Some(Request::Waiting { attempt, until }) if until <= moment.now => {
                self.fetch(attempt, moment);
            }
            _ => {}
        }
        if self.phase == Phase::Ready {
            self.look_after_flags(moment);
        }
    }

    /// Expires what nobody could confirm, and begins the refresh that is due.
    fn look_after_flags(&mut self, moment: Moment) {
        let due = self.lifetimes.notice(moment.now);
        if self.request.is_some() {
            return;
        }
        if due && self.failing {
            self.expire(moment);
        }
        if due && self.rest_until > moment.now {
            self.poll_at = Some(self.rest_until);
        } else if due || self.poll_at.is_some_and(|poll_at| poll_at <= moment.now) {
            self.start_refresh(moment);
        }
    }

    fn expire(&mut self, moment: Moment) {
        let flags = self.lifetimes.expire(moment.now);
        if !flags.is_empty() {
            self.commands.push(Command::Expire(flags));
        }
    }

    fn plan_poll(&mut self, moment: Moment) {
        let poll_at = moment.now.saturating_add(self.options.poll_interval);
        self.poll_at = (self.options.poll_interval > 0).then(|| poll_at.max(self.rest_until));
    }

    fn shut_down(&mut self) {
        let phase = core::mem::replace(&mut self.phase, Phase::ShutDown);
        if phase == Phase::ShutDown {
            return;
        }
        if let Some(Request::UnderWay { .. }) = self.request.take() {
            self.commands.push(Command::Abort);
        }
        self.poll_at = None;
        self.etag = None;
        self.lifetimes = Lifetimes::default();
        self.commands.push(Command::Clear);
        if matches!(phase, Phase::Initializing | Phase::Restoring(_)) {
            self.settle(Call::Initialize, Err(Failure::ShutDown));
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

    fn settle_refresh(&mut self, outcome: Result<(), Failure>) {
        if core::mem::take(&mut self.refresh_waits) {
            self.settle(Call::Refresh, outcome);
        }
    }

    /// One timer serves everything: it is set to whatever comes first.
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
        let request = self.request.map(|request| match request {
            Request::UnderWay { times_out_at, .. } => times_out_at,
            Request::Waiting { until, .. } => until,
        });
        let expiry = match self.phase {
            Phase::Ready => self.lifetimes.next(),
            _ => None,
        };
        [request, self.poll_at, expiry].into_iter().flatten().min()
    }
}
