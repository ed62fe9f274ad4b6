//! The command line, run as a process beside the server.

mod backup;
mod generate;
mod health;
mod import;
mod licenses;
mod restore;
mod transfer;
mod types;
mod user;
