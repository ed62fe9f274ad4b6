//! The JavaScript boundary over `pennon-core` and `pennon-client`: it translates and decides nothing.
//!
//! What is hot crosses as numbers and slots in linear memory; text crosses only where a person or the network reads it.

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
