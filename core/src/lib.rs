//! Pennon's evaluation engine.
//!
//! The same code evaluates flags on the server, in Node and in the browser. It performs no I/O, reads no clock, uses no
//! random numbers, and panics on no input. [`evaluate()`] returns the result, and [`explain()`] also returns the steps
//! that led to it; both use the implementation in [`mod@evaluate`].
//!
//! Without features, this is the engine as it is compiled to wasm. The feature `problems` adds error messages; `schema`
//! adds the JSON schemas for the description of the API.

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
mod representatives;
pub mod rollout;
pub mod rule;
#[cfg(feature = "schema")]
pub mod schema;
pub mod snapshot;
mod string_enum;
pub mod ttl;
pub mod turns_on;

pub use compiled::CompiledFlag;
pub use config::{FlagConfig, ParseError};
pub use context::{Context, Subject, Value};
pub use evaluate::{
    Cause, Explanation, MissingBucketingKey, evaluate, evaluate_with_cause,
    evaluate_without_context, explain,
};
pub use evaluation::{Evaluation, Reason, StandardReason};
pub use invalid::Invalid;
pub use snapshot::{Snapshot, UnsupportedFlag};
