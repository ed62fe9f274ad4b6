//! The environment of one client: a clock that moves only when the test advances it, and a server that responds only
//! on the test's command.

use pennon_client::{
    Call, Command, Event, Failure, InitializeOptions, Lifecycle, Machine, Moment, Options, Reply,
};
use pennon_core::ttl::Ttl;

/// A client with its environment. The journal has a line for each command, beginning with the time.
pub(crate) struct Harness {
    machine: Machine,
    moment: Moment,
    timer: Option<u64>,
    request: u32,
    journal: Vec<String>,
}

impl Harness {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            machine: Machine::new(options),
            // Retries wait for their whole delay, which keeps the times in tests round.
            moment: Moment {
                now: 0,
                random: u32::MAX,
            },
            timer: None,
            request: 0,
            journal: Vec::new(),
        }
    }

    /// Creates a client that has fetched `flags` flags at time 0, with an empty journal.
    pub(crate) fn ready(options: Options, flags: &[Option<u32>]) -> Self {
        let mut harness = Self::new(options);
        harness.handle(Event::Initialize(InitializeOptions::default()));
        harness.respond(configuration("v1", flags));
        harness.take_journal();
        harness
    }

    pub(crate) fn handle(&mut self, event: Event) {
        for command in self.machine.handle(event, self.moment) {
            self.execute(command);
        }
    }

    /// Responds to the newest request.
    pub(crate) fn respond(&mut self, reply: Reply) {
        self.respond_to(self.request, reply);
    }

    pub(crate) fn respond_to(&mut self, request: u32, reply: Reply) {
        self.handle(Event::Reply { request, reply });
    }

    /// Returns true if the response to this request would be used.
    pub(crate) fn awaits(&self, request: u32) -> bool {
        self.machine.awaits(request)
    }

    /// Fails the newest request without a response.
    pub(crate) fn fail_request(&mut self) {
        let request = self.request;
        self.handle(Event::Unreachable { request });
    }

    /// Advances the time, and fires the timer whenever it is due.
    pub(crate) fn advance(&mut self, milliseconds: u64) {
        let end = self.moment.now + milliseconds;
        while let Some(at) = self.timer.filter(|at| *at <= end) {
            self.moment.now = at.max(self.moment.now);
            self.timer = None;
            self.handle(Event::Timer);
        }
        self.moment.now = end;
    }

    /// Suspends the host: advances the time, and fires the timer only afterwards, once.
    pub(crate) fn suspend(&mut self, milliseconds: u64) {
        self.moment.now += milliseconds;
        self.advance(0);
    }

    pub(crate) fn set_random(&mut self, random: u32) {
        self.moment.random = random;
    }

    /// Returns the time at which the timer fires.
    pub(crate) fn timer(&self) -> Option<u64> {
        self.timer
    }

    /// Returns the commands since the last call, without those for the timer.
    pub(crate) fn take_journal(&mut self) -> Vec<String> {
        std::mem::take(&mut self.journal)
    }

    fn execute(&mut self, command: Command) {
        let line = match command {
            Command::SetTimer(wait) => {
                self.timer = Some(self.moment.now + wait);
                return;
            }
            Command::ClearTimer => {
                self.timer = None;
                return;
            }
            Command::Fetch { request, attempt } => {
                self.request = request;
                let etag = self.machine.etag().unwrap_or("nothing");
                format!("fetch {attempt} with {etag}")
            }
            Command::Abort => "abort".to_owned(),
            Command::Restore => "restore".to_owned(),
            Command::Apply => "apply".to_owned(),
            Command::Renew => "renew".to_owned(),
            Command::Expire(flags) => format!("expire {flags:?}"),
            Command::Clear => "clear".to_owned(),
            Command::Listen => "listen".to_owned(),
            Command::Unlisten => "unlisten".to_owned(),
            Command::Report => "report".to_owned(),
            Command::Emit(event) => format!("emit {}", event_name(event)),
            Command::Settle(call, outcome) => format!("{} {outcome:?}", call_name(call)),
        };
        self.journal.push(format!("{}: {line}", self.moment.now));
    }
}

fn event_name(event: Lifecycle) -> String {
    match event {
        Lifecycle::Ready => "ready".to_owned(),
        Lifecycle::RefreshStart => "refresh:start".to_owned(),
        Lifecycle::RefreshSuccess => "refresh:success".to_owned(),
        Lifecycle::RefreshError(Failure::Status(status)) => format!("refresh:error {status}"),
        Lifecycle::RefreshError(failure) => format!("refresh:error {failure:?}"),
        Lifecycle::Shutdown => "shutdown".to_owned(),
    }
}

fn call_name(call: Call) -> &'static str {
    match call {
        Call::Initialize => "initialize",
        Call::Refresh => "refresh",
        Call::SetContext => "set_context",
    }
}

/// Returns a response with one flag for each TTL, in seconds.
pub(crate) fn configuration(etag: &str, seconds: &[Option<u32>]) -> Reply {
    let ttl =
        |seconds: &Option<u32>| seconds.and_then(|seconds| Ttl::try_from(i64::from(seconds)).ok());
    Reply {
        status: 200,
        etag: Some(etag.into()),
        retry_after: None,
        age: 0,
        flags: Some(seconds.iter().map(ttl).collect()),
    }
}

/// Returns a response without a config document.
pub(crate) fn status(status: u16) -> Reply {
    Reply {
        status,
        ..Reply::default()
    }
}

/// Options without polling and retries, so that a test controls all events.
pub(crate) const QUIET: Options = Options {
    poll_interval: 0,
    ttl: 60_000,
    retries: 0,
    retry_delay: 1_000,
    timeout: 3_000,
    stale_if_error: false,
    streaming: false,
    report_usage: false,
};
