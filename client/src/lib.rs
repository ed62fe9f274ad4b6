//! The state machine of every Pennon client, without I/O.
//!
//! It never accesses the network, a clock or a random number generator. A host reports each event ([`Event`]) with the
//! time and a random number ([`Moment`]), and the machine returns commands ([`Command`]). The same logic therefore runs
//! in Node, in a browser and in a Rust service, and a test simulates an hour of outage in a microsecond.
//!
//! ```text
//! network, timers, callers ── Event ──> Machine ── Command ──> fetch, set timer, apply, emit, settle
//! ```

#![no_std]

extern crate alloc;

pub mod command;
pub mod event;
pub mod machine;
pub mod options;
pub mod retry;
pub mod ttl_timers;

pub use command::{Call, Command, Failure, Lifecycle};
pub use event::{Event, InitializeOptions, Moment, Reply, Retry};
pub use machine::Machine;
pub use options::Options;
