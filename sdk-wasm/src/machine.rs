//! The life of a client, event by event and command by command.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use pennon_client::{Command, Event, Failure, Lifecycle, Moment, Options, Reply};
use pennon_core::CompiledFlag;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::engine::Engine;
use crate::kinds::{CommandKind, FailureKind};

/// Decides what a client does. The host sets the moment, reports an event, and then takes command after command.
#[wasm_bindgen]
pub struct Machine {
    life: pennon_client::Machine,
    moment: Moment,
    commands: VecDeque<Command>,
    current: Option<Command>,
}

#[wasm_bindgen]
impl Machine {
    /// A client with these options, in milliseconds and attempts.
    #[wasm_bindgen(constructor)]
    pub fn new(poll_interval: f64, ttl: f64, retries: u32, retry_delay: f64, timeout: f64) -> Self {
        let options = Options {
            poll_interval: whole(poll_interval),
            ttl: whole(ttl),
            retries,
            retry_delay: whole(retry_delay),
            timeout: whole(timeout),
        };
        Self {
            life: pennon_client::Machine::new(options),
            moment: Moment { now: 0, random: 0 },
            commands: VecDeque::new(),
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

    /// `initialize()` was called.
    pub fn initialize(&mut self) {
        self.handle(Event::Initialize);
    }

    /// `refresh()` was called.
    pub fn refresh(&mut self) {
        self.handle(Event::Refresh);
    }

    /// A request was answered, and the first `length` bytes of the engine's input are the body. If the answer still
    /// counts and brings a configuration, the engine has it from now on. `retry_after` is in milliseconds.
    pub fn reply(
        &mut self,
        request: u32,
        status: u16,
        etag: Option<String>,
        retry_after: Option<f64>,
        engine: &mut Engine,
        length: usize,
    ) {
        let configured = status == 200 && self.life.awaits(request) && engine.load(length);
        let reply = Reply {
            status,
            etag: etag.map(String::into_boxed_str),
            retry_after: retry_after.map(whole),
            flags: configured.then(|| engine.flags().iter().map(CompiledFlag::ttl).collect()),
        };
        self.handle(Event::Reply { request, reply });
    }

    /// A request came to no answer.
    pub fn unreachable(&mut self, request: u32) {
        self.handle(Event::Unreachable { request });
    }

    /// The host serves flags from its own cache, with these milliseconds left for each.
    pub fn restored(&mut self, times: &[f64]) {
        self.handle(Event::Restored(times.iter().copied().map(whole).collect()));
    }

    /// The timer fired.
    pub fn timer(&mut self) {
        self.handle(Event::Timer);
    }

    /// `shutdown()` was called.
    pub fn shutdown(&mut self) {
        self.handle(Event::Shutdown);
    }

    /// Takes the next command; the methods below tell more about it.
    pub fn take(&mut self) -> CommandKind {
        self.current = self.commands.pop_front();
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

    /// What to send as `If-None-Match`.
    pub fn etag(&self) -> Option<String> {
        match &self.current {
            Some(Command::Fetch { etag, .. }) => etag.as_deref().map(String::from),
            _ => None,
        }
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

    fn handle(&mut self, event: Event) {
        let commands = self.life.handle(event, self.moment);
        self.commands.extend(commands);
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

/// JavaScript's only number as a whole one; what is negative or no number at all is 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, which is what is meant"
)]
const fn whole(number: f64) -> u64 {
    number as u64
}
