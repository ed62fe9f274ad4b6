//! The complete behavior of a client, in virtual time.

mod bootstrap;
mod context;
mod expiry;
mod fleet;
mod harness;
mod initialize;
mod initialize_options;
mod invariants;
mod refresh;
mod retries;
mod shutdown;
mod stream;
