//! The complete behavior of a client, in virtual time.

mod any;
mod beginnings;
mod expiry;
mod herds;
mod initialize;
mod initialize_options;
mod refresh;
mod retries;
mod shutdown;
mod stream;
mod world;
