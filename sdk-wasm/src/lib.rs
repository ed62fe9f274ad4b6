//! The JavaScript boundary of `pennon-core` and `pennon-client`, which converts values and has no logic.
//!
//! Each client has its own instance of the module, so the engine and the state machine are statics, and the exports are
//! functions: methods of exported structs would check at each call who owns the struct, for a tenth of the module's
//! size.
//!
//! Hot paths use numbers and slots in linear memory. Text crosses the boundary only for people and for the network.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

pub mod engine;
mod instance;
mod json;
pub mod machine;
mod protocol;
#[cfg(target_arch = "wasm32")]
mod runtime;
mod slots;

pub use protocol::{CommandKind, EventKind, FailureKind, RetryKind};
