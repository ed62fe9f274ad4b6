//! The brain of every Pennon client: a state machine without I/O.
//!
//! It never touches network, clock or randomness. A host tells it what happened ([`Event`]), when, and lends it a
//! random number ([`Moment`]); it answers with what to do ([`Command`]). So the same decisions run in Node, in a
//! browser and in a Rust service, and a test lives through an hour of outage in a microsecond.
//!
//! ```text
//! network, timers, callers ── Event ──> Machine ── Command ──> fetch, set timer, apply, emit, settle
//! ```

#![no_std]

extern crate alloc;

pub mod command;
pub mod event;
pub mod lifetimes;
pub mod machine;
pub mod options;
pub mod retry;

pub use command::{Call, Command, Failure, Lifecycle};
pub use event::{Event, Moment, Reply, Retry, Start};
pub use machine::Machine;
pub use options::Options;
