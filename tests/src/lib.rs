//! Support for tests of the server over HTTP.
//!
//! - [`TestApp`] is a server on a real port within the test program. Its clock advances only by the test, and its IDs
//!   and keys are repeatable. [`Process`] is the real binary.
//! - Each has its own [`TestDatabase`]: a SQLite file, or a new database on the PostgreSQL server that
//!   `PENNON_TEST_POSTGRES_URL` names. [`Proxy`], [`LossyProxy`], [`Pooler`] and [`TlsCluster`] stand before it.
//! - A [`Caller`] sends requests with a credential, and creates what most tests need, such as a [`FlagEnvironment`]. An
//!   [`Answer`] is a response, which was compared with the description of the API.
//! - A [`Browser`] opens pages of the dashboard. [`ConfigStream`] and [`PageStream`] are open streams of events.
//! - A [`Wire`] writes any bytes, like a client that misbehaves.

#![expect(
    clippy::expect_used,
    reason = "a failed setup must fail the test and name the line"
)]
#![expect(
    clippy::return_self_not_must_use,
    reason = "checking the status of a response is enough for many tests"
)]
#![expect(
    clippy::missing_panics_doc,
    reason = "every function here panics to fail a test"
)]

mod answer;
mod api;
mod app;
mod binary;
mod browser;
mod caller;
mod certificates;
mod cluster;
mod database;
mod described;
mod left_out;
pub mod load;
mod lossy;
mod objects;
mod older;
mod pooler;
mod postgres;
mod process;
mod proxy;
mod recording;
mod stored_states;
mod streams;
mod tables;
pub mod vectors;
mod wire;

use std::time::Duration;

pub use crate::answer::Answer;
pub use crate::api::{api_breaks, is_field};
pub use crate::app::TestApp;
pub use crate::binary::{CommandResult, binary};
pub use crate::browser::{Browser, FETCH_SITE, FORM, fingerprint};
pub use crate::caller::Caller;
pub use crate::cluster::TlsCluster;
pub use crate::database::{TestDatabase, WriteLock};
pub use crate::described::{description, resolved};
pub use crate::left_out::leave_out;
pub use crate::lossy::LossyProxy;
pub use crate::objects::{FlagEnvironment, UNKNOWN_ID, equals, rollout, rule};
pub use crate::older::{fixtures, migrations};
pub use crate::pooler::Pooler;
pub use crate::process::{Ended, Process, free_address};
pub use crate::proxy::Proxy;
pub use crate::recording::{Recording, replay};
pub use crate::streams::{ConfigStream, PageStream};
pub use crate::tables::Tables;
pub use crate::wire::{Wire, WireAnswer};

/// The email address of every app's first administrator.
pub const EMAIL: &str = "ana@example.com";
/// The password of the first administrator.
pub const PASSWORD: &str = "correct horse battery staple";
/// The time at which the clock of every app starts.
pub const START: &str = "2026-03-01T09:30:00.000Z";

/// Waits until another task or process has made a condition true. Fails the test if the condition stays false.
pub async fn eventually(what: &str, is_so: impl AsyncFn() -> bool) {
    for _ in 0..400 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("never: {what}");
}
