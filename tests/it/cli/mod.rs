//! The command line, run as a process beside the server.

mod backup;
mod health;
mod import;
mod restore;
mod transfer;
mod types;
mod user;
