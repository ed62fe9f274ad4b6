//! Pennon: a feature flag service that teams host themselves.
//!
//! `serve` accepts connections. `http` maps requests to use cases, and results to responses. `admin` contains the use
//! cases of administration, and `evaluation` those of evaluation. `feed` streams committed changes. `auth`
//! authenticates callers. `snapshot` keeps the flags to evaluate in memory. `store` contains the SQL. `tasks` runs
//! background work. `state` is shared by all of these, in parts. `cli` is the command line.

mod admin;
mod auth;
mod cli;
mod clock;
mod config;
mod dashboard;
mod database_error;
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
pub use state::{AppState, FirstAdministrator};
pub use tasks::{Task, Tasks};
