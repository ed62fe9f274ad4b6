//! The state machine of a client, driven by single events and commands.

use alloc::string::String;
use alloc::vec::Vec;

use pennon_client::{
    Command, Event, Failure, InitializeOptions, Lifecycle, Moment, Options, Reply,
};
use pennon_core::ttl::Ttl;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::engine::Engine;
use crate::protocol::{CommandKind, EventKind, FailureKind, OptionBit, RetryKind};

/// The state machine of a client. The host sets the time, reports an event, and then takes the commands one by one.
#[wasm_bindgen]
pub struct Machine {
    inner: pennon_client::Machine,
    moment: Moment,
    /// The commands, in order.
    commands: Vec<Command>,
    current: Option<Command>,
}

#[wasm_bindgen]
impl Machine {
    /// Creates a client with these options, in milliseconds and attempts. `option_bits` is the sum of [`OptionBit`]s.
    #[wasm_bindgen(constructor)]
    pub fn new(
        poll_interval: f64,
        ttl: f64,
        retries: u32,
        retry_delay: f64,
        timeout: f64,
        option_bits: u32,
    ) -> Self {
        let has = |option: OptionBit| option_bits & option as u32 != 0;
        let options = Options {
            poll_interval: to_integer(poll_interval),
            ttl: to_integer(ttl),
            retries,
            retry_delay: to_integer(retry_delay),
            timeout: to_integer(timeout),
            stale_if_error: has(OptionBit::StaleIfError),
            streaming: has(OptionBit::Streaming),
            report_usage: has(OptionBit::ReportUsage),
        };
        Self {
            inner: pennon_client::Machine::new(options),
            moment: Moment { now: 0, random: 0 },
            commands: Vec::new(),
            current: None,
        }
    }

    /// Sets the moment of the next event: monotonic milliseconds, and a 32-bit random number.
    pub fn at(&mut self, now: f64, random: u32) {
        self.moment = Moment {
            now: to_integer(now),
            random,
        };
    }

    /// Reports an event without data, or with the number of a request.
    pub fn happened(&mut self, event: EventKind, request: u32) {
        self.handle(match event {
            EventKind::Refresh => Event::Refresh,
            EventKind::Unreachable => Event::Unreachable { request },
            EventKind::StreamAlive => Event::StreamAlive,
            EventKind::Timer => Event::Timer,
            EventKind::Shutdown => Event::Shutdown,
            EventKind::ContextChanged => Event::ContextChanged,
        });
    }

    /// Reports that `initialize()` was called. It fails after `timeout` milliseconds, if given.
    pub fn initialize(&mut self, timeout: Option<f64>, retry: RetryKind) {
        self.handle(Event::Initialize(InitializeOptions {
            timeout: timeout.map(to_integer),
            retry: retry.into(),
        }));
    }

    /// Reports that `initialize()` was called with a bootstrap config document, which the engine has loaded. `etag` is
    /// its tag.
    pub fn provided(&mut self, etag: Option<String>, engine: &Engine) {
        self.handle(Event::Bootstrap {
            flags: ttls(engine),
            etag,
        });
    }

    /// Reports that this machine replaces one that trapped. The engine has loaded the last valid config document.
    pub fn resumed(&mut self, refreshing: bool, engine: &Engine) {
        self.handle(Event::Resumed {
            flags: ttls(engine),
            refreshing,
        });
    }

    /// Reports the response to a request, whose body is the first `length` bytes of the engine's input. Returns true if
    /// the response is used and the engine has loaded its config document. `retry_after` and `age` are in milliseconds.
    #[expect(
        clippy::too_many_arguments,
        reason = "only numbers and texts cross the boundary"
    )]
    pub fn reply(
        &mut self,
        request: u32,
        status: u16,
        etag: Option<String>,
        retry_after: Option<f64>,
        age: f64,
        engine: &mut Engine,
        length: usize,
    ) -> bool {
        let is_loaded = status == 200 && self.inner.awaits(request) && engine.load(length);
        let reply = Reply {
            status,
            etag,
            retry_after: retry_after.map(to_integer),
            age: to_integer(age),
            flags: is_loaded.then(|| ttls(engine)),
        };
        self.handle(Event::Reply { request, reply });
        is_loaded
    }

    /// Reports the response to a request for evaluations, which the host has read. `ttls` has the TTL of each in
    /// seconds, 0 for the client's default; none if the body does not contain evaluations. Returns true if the response
    /// is used.
    pub fn answered(
        &mut self,
        request: u32,
        status: u16,
        etag: Option<String>,
        retry_after: Option<f64>,
        ttls: Option<Vec<u32>>,
    ) -> bool {
        let is_used = self.inner.awaits(request) && ttls.is_some();
        let to_ttl = |seconds: u32| Ttl::try_from(i64::from(seconds)).ok();
        let reply = Reply {
            status,
            etag,
            retry_after: retry_after.map(to_integer),
            age: 0,
            flags: ttls.map(|ttls| ttls.into_iter().map(to_ttl).collect()),
        };
        self.handle(Event::Reply { request, reply });
        is_used
    }

    /// Reports that the host serves flags from its cache, with the remaining milliseconds of each.
    pub fn restored(&mut self, times: &[f64]) {
        self.handle(Event::Restored(
            times.iter().copied().map(to_integer).collect(),
        ));
    }

    /// Reports that the host serves the engine's config document from a store. The service confirmed it `age`
    /// milliseconds ago, and its maximum age is `max_age` milliseconds.
    pub fn stored(&mut self, age: f64, max_age: f64, engine: &Engine) {
        self.handle(Event::Stored {
            flags: ttls(engine),
            age: to_integer(age),
            max_age: to_integer(max_age),
        });
    }

    /// Reports that the stream announced the tag of the service's config document, and optionally the period in
    /// milliseconds over which clients should spread their fetches.
    #[wasm_bindgen(js_name = streamTold)]
    pub fn stream_told(&mut self, etag: String, spread: Option<f64>) {
        self.handle(Event::StreamAnnounced {
            etag,
            spread: spread.map(to_integer),
        });
    }

    /// Reports that the stream ended, or was refused with this status. `retry_after` is in milliseconds.
    #[wasm_bindgen(js_name = streamEnded)]
    pub fn stream_ended(&mut self, status: u16, retry_after: Option<f64>) {
        self.handle(Event::StreamEnded {
            status,
            retry_after: retry_after.map(to_integer),
        });
    }

    /// Takes the next command; the methods below return its data.
    pub fn take(&mut self) -> CommandKind {
        self.current = (!self.commands.is_empty()).then(|| self.commands.remove(0));
        self.current
            .as_ref()
            .map_or(CommandKind::None, CommandKind::from)
    }

    /// Returns the number of the current command: the number with which to report the response to a request, the
    /// milliseconds of a timer, which fit into 31 bits, or the response status of a failure.
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

    /// Returns the tag of the config document or of the evaluations being served, to send as `If-None-Match`.
    pub fn etag(&self) -> Option<String> {
        self.inner.etag().map(String::from)
    }

    /// Returns the flags to stop serving.
    pub fn flags(&self) -> Vec<u32> {
        match &self.current {
            Some(Command::Expire(flags)) => flags.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the cause of a failure.
    pub fn failure(&self) -> FailureKind {
        self.current_failure()
            .map_or(FailureKind::None, FailureKind::from)
    }

    #[inline(never)]
    fn handle(&mut self, event: Event) {
        let mut commands = self.inner.handle(event, self.moment);
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

/// Returns the TTL of each flag in the engine.
#[inline(never)]
fn ttls(engine: &Engine) -> Vec<Option<Ttl>> {
    engine.snapshot().ttls().collect()
}

/// Converts a JavaScript number to an integer. Negative values and NaN become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the saturating cast is intended"
)]
const fn to_integer(number: f64) -> u64 {
    number as u64
}
