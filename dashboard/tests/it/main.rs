//! Pages rendered against a fake port, without a server: the contents of their HTML.

#![expect(clippy::expect_used, reason = "a panic shows where a test failed")]

mod cloning;
mod environments;
mod fake;
mod fake_flag;
mod fake_people;
mod flags;
mod forms;
mod grants;
mod incident;
mod palette;
mod products;
mod public_environments;
mod session;
