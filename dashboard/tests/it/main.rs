//! Pages rendered against a fake service, without a server: the contents of their HTML.

#![expect(
    clippy::expect_used,
    reason = "a test that cannot go on must say where"
)]

mod environments;
mod fake;
mod flags;
mod session;
