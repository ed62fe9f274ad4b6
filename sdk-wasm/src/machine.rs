//! The life of a client, event by event and command by command.

use alloc::string::String;
use alloc::vec::Vec;

use pennon_client::{Command, Event, Failure, Lifecycle, Moment, Options, Reply, Start};
use pennon_core::ttl::Ttl;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::engine::Engine;
use crate::protocol::{CommandKind, EventKind, FailureKind, OptionBit, RetryKind};

/// Decides what a client does. The host sets the moment, reports an event, and then takes command after command.
#[wasm_bindgen]
pub struct Machine {
    life: pennon_client::Machine,
    moment: Moment,
    /// In the order in which they are to be taken.
    commands: Vec<Command>,
    current: Option<Command>,
}

#[wasm_bindgen]
impl Machine {
    /// A client with these options, in milliseconds and attempts. `switches` is the sum of [`OptionBit`]s.
    #[wasm_bindgen(constructor)]
    pub fn new(
        poll_interval: f64,
        ttl: f64,
        retries: u32,
        retry_delay: f64,
        timeout: f64,
        switches: u32,
    ) -> Self {
        let has = |option: OptionBit| switches & option as u32 != 0;
        let options = Options {
            poll_interval: whole(poll_interval),
            ttl: whole(ttl),
            retries,
            retry_delay: whole(retry_delay),
            timeout: whole(timeout),
            stale_if_error: has(OptionBit::StaleIfError),
            streaming: has(OptionBit::Streaming),
            reports: has(OptionBit::ReportUsage),
        };
        Self {
            life: pennon_client::Machine::new(options),
            moment: Moment { now: 0, random: 0 },
            commands: Vec::new(),
            current: None,
        }
    }

    /// Sets the moment of the next event: monotonic milliseconds, and a random number of 32 bits.
    pub fn at(&mut self, now: f64, random: u32) {
        self.moment = Moment {
            now: whole(now),
            random,
        };
    }

    /// Something happened of which there is no more to say, or only the number of a request.
    pub fn happened(&mut self, event: EventKind, request: u32) {
        self.handle(match event {
            EventKind::Refresh => Event::Refresh,
            EventKind::Unreachable => Event::Unreachable { request },
            EventKind::StreamAlive => Event::StreamAlive,
            EventKind::Timer => Event::Timer,
            EventKind::Shutdown => Event::Shutdown,
        });
    }

    /// `initialize()` was called, which fails after `timeout` milliseconds, if it is given.
    pub fn initialize(&mut self, timeout: Option<f64>, retry: RetryKind) {
        self.handle(Event::Initialize(Start {
            timeout: timeout.map(whole),
            retry: retry.into(),
        }));
    }

    /// `initialize()` was called, and the engine holds a configuration to begin with, of this tag.
    pub fn provided(&mut self, etag: Option<String>, engine: &Engine) {
        self.handle(Event::Provided {
            flags: times(engine),
            etag,
        });
    }

    /// This machine goes on where one that trapped has left off; the engine holds the last good configuration.
    pub fn resumed(&mut self, refreshing: bool, engine: &Engine) {
        self.handle(Event::Resumed {
            flags: times(engine),
            refreshing,
        });
    }

    /// A request was answered, and the first `length` bytes of the engine's input are the body. If the answer still
    /// counts and brings a configuration, the engine has it from now on, and this is true. `retry_after` is in
    /// milliseconds.
    pub fn reply(
        &mut self,
        request: u32,
        status: u16,
        etag: Option<String>,
        retry_after: Option<f64>,
        engine: &mut Engine,
        length: usize,
    ) -> bool {
        let configured = status == 200 && self.life.awaits(request) && engine.load(length);
        let reply = Reply {
            status,
            etag,
            retry_after: retry_after.map(whole),
            flags: configured.then(|| times(engine)),
        };
        self.handle(Event::Reply { request, reply });
        configured
    }

    /// The host serves flags from its own cache, with these milliseconds left for each.
    pub fn restored(&mut self, times: &[f64]) {
        self.handle(Event::Restored(times.iter().copied().map(whole).collect()));
    }

    /// The host serves the configuration that the engine holds, from a store: it was confirmed `age` milliseconds ago, and
    /// may become `max_age` milliseconds old.
    pub fn stored(&mut self, age: f64, max_age: f64, engine: &Engine) {
        self.handle(Event::Stored {
            flags: times(engine),
            age: whole(age),
            max_age: whole(max_age),
        });
    }

    /// The stream told the tag of the configuration that the service has, and perhaps within how many milliseconds all
    /// clients should fetch it.
    #[wasm_bindgen(js_name = streamTold)]
    pub fn stream_told(&mut self, etag: String, spread: Option<f64>) {
        self.handle(Event::StreamTold {
            etag,
            spread: spread.map(whole),
        });
    }

    /// The stream ended, or was refused with this status. `retry_after` is in milliseconds.
    #[wasm_bindgen(js_name = streamEnded)]
    pub fn stream_ended(&mut self, status: u16, retry_after: Option<f64>) {
        self.handle(Event::StreamEnded {
            status,
            retry_after: retry_after.map(whole),
        });
    }

    /// Takes the next command; the methods below tell more about it.
    pub fn take(&mut self) -> CommandKind {
        self.current = (!self.commands.is_empty()).then(|| self.commands.remove(0));
        self.current
            .as_ref()
            .map_or(CommandKind::None, CommandKind::from)
    }

    /// The number that belongs to the current command: of a request, the one to report its answer under; of a timer, its
    /// milliseconds, which fit into 31 bits; of a failure, the status that the service answered with.
    pub fn number(&self) -> u32 {
        match self.current {
            Some(Command::Fetch { request, .. }) => request,
            Some(Command::SetTimer(delay)) => u32::try_from(delay).unwrap_or(u32::MAX),
            _ => match self.current_failure() {
                Some(Failure::Status(status)) => status.into(),
                _ => 0,
            },
        }
    }

    /// The tag of the configuration being served: what to send as `If-None-Match`.
    pub fn etag(&self) -> Option<String> {
        self.life.etag().map(String::from)
    }

    /// The flags to serve no longer.
    pub fn flags(&self) -> Vec<u32> {
        match &self.current {
            Some(Command::Expire(flags)) => flags.clone(),
            _ => Vec::new(),
        }
    }

    /// Why something failed.
    pub fn failure(&self) -> FailureKind {
        self.current_failure()
            .map_or(FailureKind::None, FailureKind::from)
    }

    #[inline(never)]
    fn handle(&mut self, event: Event) {
        let mut commands = self.life.handle(event, self.moment);
        self.commands.append(&mut commands);
    }

    fn current_failure(&self) -> Option<Failure> {
        match self.current {
            Some(
                Command::Emit(Lifecycle::RefreshError(failure)) | Command::Settle(_, Err(failure)),
            ) => Some(failure),
            _ => None,
        }
    }
}

/// The time to live of each flag that the engine holds.
#[inline(never)]
fn times(engine: &Engine) -> Vec<Option<Ttl>> {
    engine.snapshot().ttls().collect()
}

/// JavaScript's only number as a whole one; what is negative or no number at all is 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, which is what is meant"
)]
const fn whole(number: f64) -> u64 {
    number as u64
}
