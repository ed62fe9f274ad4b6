//! Pennon: a feature flag service that teams host themselves.
//!
//! `serve` takes connections; `http` turns requests into calls of use cases and their results into responses; `admin`
//! holds the use cases of administration, and `evaluation` those of evaluation; `feed` is the stream of committed
//! changes; `auth` proves who calls; `snapshot` holds what is evaluated, in memory; `store` holds the SQL; `tasks` is
//! the work in the background; `state` is what all of them share, in slices; `cli` is the command line.

mod admin;
mod auth;
mod cli;
mod clock;
mod config;
mod dashboard;
mod error;
mod evaluation;
mod feed;
mod http;
mod in_flight;
mod metrics;
mod serve;
mod snapshot;
mod state;
mod store;
mod tasks;

pub use admin::StartError;
pub use admin::provisioning::BootstrapFile;
pub use cli::{Command, CommandLine, run};
pub use clock::{Clock, Entropy, SystemClock};
pub use config::{DatabaseSettings, ListenAddress, LogFormat, SecretError, Secrets, Settings};
pub use http::description;
pub use serve::{Listeners, serve};
pub use state::{FirstAdministrator, Service};
pub use tasks::{Task, Tasks};
