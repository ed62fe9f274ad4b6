//! The state machine of a client, driven by single events and commands.

use alloc::string::String;
use alloc::vec::Vec;

use pennon_client::{
    Command, Event, Failure, InitializeOptions, Lifecycle, Moment, Options, Reply,
};
use pennon_core::ttl::Ttl;
use spin::Mutex;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::engine::{self, ENGINE};
use crate::instance::borrow;
use crate::protocol::{CommandKind, EventKind, FailureKind, OptionBit, RetryKind};

/// The state machine of this instance. The host first sets its options with [`configure`]. Then, for each event, it
/// sets the time, reports the event, and takes the commands one by one.
static MACHINE: Mutex<Machine> = Mutex::new(Machine {
    inner: pennon_client::Machine::new(Options {
        poll_interval: 0,
        ttl: 0,
        retries: 0,
        retry_delay: 0,
        timeout: 0,
        stale_if_error: false,
        streaming: false,
        report_usage: false,
    }),
    moment: Moment { now: 0, random: 0 },
    commands: Vec::new(),
    current: None,
});

struct Machine {
    inner: pennon_client::Machine,
    moment: Moment,
    /// The commands, in order.
    commands: Vec<Command>,
    current: Option<Command>,
}

/// Starts a client with these options, in milliseconds and attempts. `option_bits` is the sum of [`OptionBit`]s.
#[wasm_bindgen]
pub fn configure(
    poll_interval: f64,
    ttl: f64,
    retries: u32,
    retry_delay: f64,
    timeout: f64,
    option_bits: u32,
) {
    let has = |option: OptionBit| option_bits & option as u32 != 0;
    borrow(&MACHINE).inner = pennon_client::Machine::new(Options {
        poll_interval: to_integer(poll_interval),
        ttl: to_integer(ttl),
        retries,
        retry_delay: to_integer(retry_delay),
        timeout: to_integer(timeout),
        stale_if_error: has(OptionBit::StaleIfError),
        streaming: has(OptionBit::Streaming),
        report_usage: has(OptionBit::ReportUsage),
    });
}

/// Sets the moment of the next event: monotonic milliseconds, and a 32-bit random number.
#[wasm_bindgen]
pub fn set_moment(now: f64, random: u32) {
    let mut machine = borrow(&MACHINE);
    machine.moment = Moment {
        now: to_integer(now),
        random,
    };
}

/// Reports an event without data, or with the number of a request.
#[wasm_bindgen]
pub fn happened(event: EventKind, request: u32) {
    let mut machine = borrow(&MACHINE);
    machine.handle(match event {
        EventKind::Refresh => Event::Refresh,
        EventKind::Unreachable => Event::Unreachable { request },
        EventKind::StreamAlive => Event::StreamAlive,
        EventKind::Timer => Event::Timer,
        EventKind::Shutdown => Event::Shutdown,
        EventKind::ContextChanged => Event::ContextChanged,
    });
}

/// Reports that `initialize()` was called. It fails after `timeout` milliseconds, if given.
#[wasm_bindgen]
pub fn initialize(timeout: Option<f64>, retry: RetryKind) {
    let mut machine = borrow(&MACHINE);
    machine.handle(Event::Initialize(InitializeOptions {
        timeout: timeout.map(to_integer),
        retry: retry.into(),
    }));
}

/// Reports that `initialize()` was called with a bootstrap config document, which the engine has loaded. `etag` is its
/// tag.
#[wasm_bindgen]
pub fn bootstrap(etag: Option<String>) {
    let mut machine = borrow(&MACHINE);
    machine.handle(Event::Bootstrap {
        flags: ttls(),
        etag,
    });
}

/// Reports that this machine replaces one that trapped. The engine has loaded the last valid config document.
#[wasm_bindgen]
pub fn resumed(refreshing: bool) {
    let mut machine = borrow(&MACHINE);
    machine.handle(Event::Resumed {
        flags: ttls(),
        refreshing,
    });
}

/// Reports that the host already serves flags, with the remaining milliseconds of each. `is_ready` is true if its
/// client is ready.
#[wasm_bindgen]
pub fn served(times: &[f64], is_ready: bool) {
    let mut machine = borrow(&MACHINE);
    machine.handle(Event::Served {
        times: to_integers(times),
        is_ready,
    });
}

/// Reports the response to a request, whose body is the first `length` bytes of the config buffer. Returns true if the
/// response is used and the engine has loaded its config document. `retry_after` and `age` are in milliseconds.
#[wasm_bindgen]
pub fn reply(
    request: u32,
    status: u16,
    etag: Option<String>,
    retry_after: Option<f64>,
    age: f64,
    length: usize,
) -> bool {
    let mut machine = borrow(&MACHINE);
    let is_loaded = status == 200 && machine.inner.awaits(request) && engine::load(length);
    let reply = Reply {
        status,
        etag,
        retry_after: retry_after.map(to_integer),
        age: to_integer(age),
        flags: is_loaded.then(ttls),
    };
    machine.handle(Event::Reply { request, reply });
    is_loaded
}

/// Reports the response to a request for evaluations, which the host has read. `ttls` has the TTL of each in seconds, 0
/// for the client's default; none if the body does not contain evaluations. Returns true if the response is used.
#[wasm_bindgen]
pub fn reply_evaluations(
    request: u32,
    status: u16,
    etag: Option<String>,
    retry_after: Option<f64>,
    ttls: Option<Vec<u32>>,
) -> bool {
    let mut machine = borrow(&MACHINE);
    let is_used = machine.inner.awaits(request) && ttls.is_some();
    let to_ttl = |seconds: u32| Ttl::try_from(i64::from(seconds)).ok();
    let reply = Reply {
        status,
        etag,
        retry_after: retry_after.map(to_integer),
        age: 0,
        flags: ttls.map(|ttls| ttls.into_iter().map(to_ttl).collect()),
    };
    machine.handle(Event::Reply { request, reply });
    is_used
}

/// Reports that the host serves flags from its cache, with the remaining milliseconds of each.
#[wasm_bindgen]
pub fn restored(times: &[f64]) {
    let mut machine = borrow(&MACHINE);
    machine.handle(Event::Restored(to_integers(times)));
}

/// Reports that the host serves the engine's config document from a store. The server confirmed it `age`
/// milliseconds ago, and its maximum age is `max_age` milliseconds.
#[wasm_bindgen]
pub fn stored(age: f64, max_age: f64) {
    let mut machine = borrow(&MACHINE);
    machine.handle(Event::Stored {
        flags: ttls(),
        age: to_integer(age),
        max_age: to_integer(max_age),
    });
}

/// Reports that the stream announced the tag of the server's config document, and optionally the period in
/// milliseconds over which clients should spread their fetches.
#[wasm_bindgen]
pub fn stream_announced(etag: String, spread: Option<f64>) {
    let mut machine = borrow(&MACHINE);
    machine.handle(Event::StreamAnnounced {
        etag,
        spread: spread.map(to_integer),
    });
}

/// Reports that the stream ended, or was refused with this status. `retry_after` is in milliseconds.
#[wasm_bindgen]
pub fn stream_ended(status: u16, retry_after: Option<f64>) {
    let mut machine = borrow(&MACHINE);
    machine.handle(Event::StreamEnded {
        status,
        retry_after: retry_after.map(to_integer),
    });
}

/// Takes the next command; the functions below return its data.
#[wasm_bindgen]
pub fn take_command() -> CommandKind {
    let mut machine = borrow(&MACHINE);
    machine.current = (!machine.commands.is_empty()).then(|| machine.commands.remove(0));
    machine
        .current
        .as_ref()
        .map_or(CommandKind::None, CommandKind::from)
}

/// Returns the number of the current command: the number with which to report the response to a request, the
/// milliseconds of a timer, which fit into 31 bits, or the response status of a failure.
#[wasm_bindgen]
pub fn command_number() -> u32 {
    let machine = borrow(&MACHINE);
    match machine.current {
        Some(Command::Fetch { request, .. }) => request,
        Some(Command::SetTimer(delay)) => u32::try_from(delay).unwrap_or(u32::MAX),
        _ => match machine.current_failure() {
            Some(Failure::Status(status)) => status.into(),
            _ => 0,
        },
    }
}

/// Returns the tag of the config document or of the evaluations being served, to send as `If-None-Match`.
#[wasm_bindgen]
pub fn etag() -> Option<String> {
    let machine = borrow(&MACHINE);
    machine.inner.etag().map(String::from)
}

/// Returns the flags that the current command expires.
#[wasm_bindgen]
pub fn expired() -> Vec<u32> {
    let machine = borrow(&MACHINE);
    match &machine.current {
        Some(Command::Expire(flags)) => flags.clone(),
        _ => Vec::new(),
    }
}

/// Returns the cause if the current command reports a failure.
#[wasm_bindgen]
pub fn failure() -> FailureKind {
    let machine = borrow(&MACHINE);
    machine
        .current_failure()
        .map_or(FailureKind::None, FailureKind::from)
}

impl Machine {
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
fn ttls() -> Vec<Option<Ttl>> {
    borrow(&ENGINE).snapshot.ttls().collect()
}

#[inline(never)]
fn to_integers(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().copied().map(to_integer).collect()
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
