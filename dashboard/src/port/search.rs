//! Finding flags and environments by a few letters.

use async_trait::async_trait;
use pennon_model::{environment::Environment, flag::Flag};

use crate::error::AdminError;

/// The use case of looking for something by its name.
#[async_trait]
pub trait SearchAdmin: Send + Sync {
    /// Flags whose key or name contains the text in any case, archived ones included, the likeliest first; and active
    /// environments whose name or product does.
    async fn find(&self, text: &str) -> Result<Found, AdminError>;
}

/// What was found: no more of it than one can look through.
#[derive(Clone, Debug)]
pub struct Found {
    /// The flags.
    pub flags: Vec<Flag>,
    /// The environments.
    pub environments: Vec<Environment>,
}
