//! The command line, run as a process beside the server.

mod backup;
mod health;
mod transfer;
mod types;
mod user;
