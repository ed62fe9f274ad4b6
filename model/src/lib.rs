//! Flags, environments, accounts and their records, as types that can hold valid values only.
//!
//! The API and the dashboard speak of the same things, so both share these types. Evaluation is in
//! [`pennon_core`], whose rules and rollouts occur here as parts of records.
//!
//! The feature `schema` adds the JSON schemas for the API's description.

pub mod audit;
pub mod capabilities;
pub mod client;
pub mod configuration;
pub mod context;
pub mod environment;
pub mod flag;
pub mod flag_table;
pub mod id;
pub mod json;
pub mod package;
pub mod page;
pub mod reversal;
#[cfg(feature = "schema")]
mod schema;
pub mod secret;
pub mod targeting;
pub mod text;
pub mod time;
pub mod token;
pub mod usage;
pub mod user;
