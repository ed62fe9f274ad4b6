//! A world for one client: a clock that stands until it is moved, and a service that answers when it is told to.

use pennon_client::{
    Call, Command, Event, Failure, Lifecycle, Machine, Moment, Options, Reply, Start,
};
use pennon_core::ttl::Ttl;

/// The client and everything around it. What it commands is written down, each line beginning with the time.
pub(crate) struct World {
    machine: Machine,
    moment: Moment,
    timer: Option<u64>,
    request: u32,
    journal: Vec<String>,
}

impl World {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            machine: Machine::new(options),
            // Retries wait for the whole of their delay, which keeps the times below round.
            moment: Moment {
                now: 0,
                random: u32::MAX,
            },
            timer: None,
            request: 0,
            journal: Vec::new(),
        }
    }

    /// A world in which the client has fetched `flags` flags at the time 0, and nothing is in the journal yet.
    pub(crate) fn ready(options: Options, flags: &[Option<u32>]) -> Self {
        let mut world = Self::new(options);
        world.happens(Event::Initialize(Start::default()));
        world.answers(configuration("v1", flags));
        world.journal();
        world
    }

    pub(crate) fn happens(&mut self, event: Event) {
        for command in self.machine.handle(event, self.moment) {
            self.obey(command);
        }
    }

    /// The service answers the newest request.
    pub(crate) fn answers(&mut self, reply: Reply) {
        self.answers_request(self.request, reply);
    }

    pub(crate) fn answers_request(&mut self, request: u32, reply: Reply) {
        self.happens(Event::Reply { request, reply });
    }

    /// The newest request comes to no answer.
    pub(crate) fn is_unreachable(&mut self) {
        let request = self.request;
        self.happens(Event::Unreachable { request });
    }

    /// Time passes, and the timer fires whenever it should.
    pub(crate) fn passes(&mut self, milliseconds: u64) {
        let end = self.moment.now + milliseconds;
        while let Some(at) = self.timer.filter(|at| *at <= end) {
            self.moment.now = at.max(self.moment.now);
            self.timer = None;
            self.happens(Event::Timer);
        }
        self.moment.now = end;
    }

    /// The host sleeps: time passes, but the timer fires only afterwards, once.
    pub(crate) fn sleeps(&mut self, milliseconds: u64) {
        self.moment.now += milliseconds;
        self.passes(0);
    }

    pub(crate) fn random(&mut self, random: u32) {
        self.moment.random = random;
    }

    /// When the timer will fire.
    pub(crate) fn timer(&self) -> Option<u64> {
        self.timer
    }

    /// What has been commanded since the last look, timers aside.
    pub(crate) fn journal(&mut self) -> Vec<String> {
        std::mem::take(&mut self.journal)
    }

    fn obey(&mut self, command: Command) {
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
    }
}

/// A configuration of as many flags as there are times to live, those in seconds.
pub(crate) fn configuration(etag: &str, seconds: &[Option<u32>]) -> Reply {
    let ttl =
        |seconds: &Option<u32>| seconds.and_then(|seconds| Ttl::try_from(i64::from(seconds)).ok());
    Reply {
        status: 200,
        etag: Some(etag.into()),
        retry_after: None,
        flags: Some(seconds.iter().map(ttl).collect()),
    }
}

/// An answer without a configuration.
pub(crate) fn status(status: u16) -> Reply {
    Reply {
        status,
        ..Reply::default()
    }
}

/// No polling and no retries: nothing happens unless a test makes it happen.
pub(crate) const QUIET: Options = Options {
    poll_interval: 0,
    ttl: 60_000,
    retries: 0,
    retry_delay: 1_000,
    timeout: 3_000,
    stale_if_error: false,
    streaming: false,
    reports: false,
};
