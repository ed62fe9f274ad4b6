//! The command line, run as a process while the server runs.

mod backup;
mod generate;
mod health;
mod import;
mod licenses;
mod restore;
mod transfer;
mod types;
mod user;
