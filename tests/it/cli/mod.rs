//! The commands, run as processes while a server runs.

mod backup;
mod generate;
mod health;
mod import;
mod inspect;
mod licenses;
mod restore;
mod transfer;
mod types;
mod user;
