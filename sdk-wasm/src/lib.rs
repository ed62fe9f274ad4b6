//! The JavaScript boundary of `pennon-core` and `pennon-client`, which converts values and has no logic.
//!
//! Hot paths use numbers and slots in linear memory. Text crosses the boundary only for people and for the network.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

mod engine;
mod json;
mod machine;
mod protocol;
#[cfg(target_arch = "wasm32")]
mod runtime;
mod slots;

pub use engine::Engine;
pub use machine::Machine;
pub use protocol::{CommandKind, EventKind, FailureKind, RetryKind};
