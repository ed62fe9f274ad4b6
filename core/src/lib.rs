//! Pennon's vocabulary and its one evaluation engine.
//!
//! The same code decides in the server, in Node and in the browser: it does no I/O, reads no clock, draws no random
//! numbers and does not panic, whatever it is given. [`evaluate()`] answers, [`explain()`] tells how it came to the same
//! answer; both walk the one path in [`mod@evaluate`].
//!
//! Features: none is the engine as it goes into wasm; `serde` adds the JSON forms of the vocabulary; `admin` adds what
//! administration speaks of beside evaluation; `clients` adds the versions of client packages; `schema` adds the JSON
//! schemas for the API's description.

#![cfg_attr(not(feature = "schema"), no_std)]

extern crate alloc;

pub mod bucketing;
#[cfg(feature = "clients")]
pub mod capabilities;
pub mod compiled;
pub mod config;
pub mod evaluate;
mod json;
#[cfg(feature = "admin")]
pub mod lint;
mod matching;
pub mod model;
pub mod snapshot;

pub use compiled::CompiledFlag;
pub use config::{FlagConfig, ParseError};
pub use evaluate::{
    Cause, Explanation, MissingBucketingValue, evaluate, evaluate_with_cause, explain,
};
pub use model::context::{Context, Subject, Value};
pub use model::evaluation::{Evaluation, Reason, StandardReason};
pub use snapshot::{Snapshot, UnsupportedFlag};
