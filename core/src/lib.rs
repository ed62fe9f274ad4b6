//! Pennon's one evaluation engine.
//!
//! The same code decides in the server, in Node and in the browser: it does no I/O, reads no clock, draws no random
//! numbers and does not panic, whatever it is given. [`evaluate()`] answers, [`explain()`] tells how it came to the same
//! answer; both walk the one path in [`mod@evaluate`].
//!
//! Features: none is the engine as it goes into wasm; `problems` adds the sentences of errors; `schema` adds the JSON schemas
//! for the API's description.

#![cfg_attr(not(feature = "schema"), no_std)]

extern crate alloc;

pub mod bucketing;
pub mod compiled;
pub mod config;
pub mod context;
pub mod evaluate;
pub mod evaluation;
mod invalid;
mod json;
pub mod lint;
mod matching;
pub mod rollout;
pub mod rule;
#[cfg(feature = "schema")]
pub mod schema;
pub mod snapshot;
mod string_enum;
pub mod ttl;

pub use compiled::CompiledFlag;
pub use config::{FlagConfig, ParseError};
pub use context::{Context, Subject, Value};
pub use evaluate::{
    Cause, Explanation, MissingBucketingValue, evaluate, evaluate_with_cause, explain,
};
pub use evaluation::{Evaluation, Reason, StandardReason};
pub use invalid::Invalid;
pub use snapshot::{Snapshot, UnsupportedFlag};
