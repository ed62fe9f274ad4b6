//! Whole lives of a client, in virtual time.

mod any;
mod expiry;
mod initialize;
mod refresh;
mod retries;
mod shutdown;
mod world;
