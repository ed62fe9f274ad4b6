//! The words that Pennon speaks: types that can hold right values only.

#[cfg(feature = "admin")]
pub mod audit;
#[cfg(feature = "clients")]
pub mod client;
pub mod configuration;
pub mod context;
#[cfg(feature = "admin")]
pub mod environment;
pub mod evaluation;
#[cfg(feature = "admin")]
pub mod flag;
#[cfg(feature = "admin")]
pub mod id;
mod invalid;
#[cfg(feature = "admin")]
pub mod page;
pub mod rollout;
pub mod rule;
#[cfg(feature = "schema")]
mod schema;
#[cfg(feature = "admin")]
pub mod targeting;
#[cfg(feature = "admin")]
pub mod text;
#[cfg(feature = "admin")]
pub mod time;
#[cfg(feature = "admin")]
pub mod token;
#[cfg(feature = "admin")]
pub mod user;
mod word;

pub use invalid::Invalid;
