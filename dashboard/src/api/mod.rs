//! The server functions, which islands call and plain forms post to. Each forwards to the port.
//!
//! They are public endpoints, so they access the server only through `signed_in`.

#![cfg_attr(
    feature = "ssr",
    expect(
        clippy::unused_async,
        reason = "a server function is async, even if it awaits nothing"
    )
)]
#![expect(
    missing_docs,
    reason = "the macro generates a field for each argument, without its documentation"
)]

pub mod destinations;
pub mod effect;
pub mod flags;
pub mod playground;
pub mod session;
