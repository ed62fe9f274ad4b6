//! Flags, environments, accounts and audit entries, as types that can only hold valid values.
//!
//! The API and the dashboard share these types. Evaluation is in [`pennon_core`], whose rules and rollouts are parts of
//! the types here.
//!
//! The feature `schema` adds the JSON schemas for the API's description.

pub mod audit;
pub mod bulk;
pub mod capabilities;
pub mod client;
pub mod configuration;
pub mod context;
pub mod email;
pub mod environment;
pub mod first_steps;
pub mod flag;
pub mod flag_table;
pub mod grant;
pub mod id;
pub mod json;
pub mod list;
pub mod metadata;
pub mod package;
pub mod page;
pub mod plan;
pub mod previous_key;
#[cfg(feature = "schema")]
mod schema;
pub mod secret;
pub mod targeting;
pub mod text;
pub mod time;
pub mod token;
pub mod usage;
pub mod user;
