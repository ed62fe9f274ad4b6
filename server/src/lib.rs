//! Pennon: a feature flag service that teams host themselves.
//!
//! `serve` takes connections; `http` turns requests into calls of use cases and their results into responses; `service`
//! holds the use cases; `store` holds the SQL; `snapshot` holds what is evaluated, in memory; `auth` proves who calls;
//! `cli` is the command line.

mod auth;
mod cli;
mod clock;
mod config;
mod dashboard;
mod error;
mod evaluation;
mod http;
mod load;
mod metrics;
mod serve;
mod service;
mod snapshot;
mod store;

pub use cli::{Command, CommandLine, run};
pub use clock::{Clock, Entropy, SystemClock};
pub use config::{
    DatabaseSettings, Hidden, ListenAddress, LogFormat, SecretError, Secrets, Settings,
};
pub use http::description;
pub use serve::{Listeners, serve};
pub use service::provisioning::BootstrapFile;
pub use service::{FirstAdministrator, Service, StartError};
