//! Pages rendered against a fake service, without a server: what is in the HTML, and what is not.

#![expect(
    clippy::expect_used,
    reason = "a test that cannot go on must say where"
)]

mod environments;
mod fake;
mod flags;
mod session;
