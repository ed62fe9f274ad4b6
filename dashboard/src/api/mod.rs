//! The server functions, which islands call and plain forms post to. Each forwards to the port in a line.
//!
//! They are public endpoints. All that use the service access it through `signed_in` alone.

#![cfg_attr(
    feature = "ssr",
    expect(
        clippy::unused_async,
        reason = "a server function is async, also one that has nothing to wait for"
    )
)]
#![expect(
    missing_docs,
    reason = "the macro writes the arguments as fields without their documentation"
)]

pub mod destinations;
pub mod effect;
pub mod flags;
pub mod playground;
pub mod session;
