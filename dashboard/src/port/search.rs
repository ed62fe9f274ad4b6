//! The search for flags and environments.

use async_trait::async_trait;
use pennon_model::{environment::Environment, flag::Flag};

use crate::{error::AdminError, model::Naming};

/// The search by name.
#[async_trait]
pub trait SearchAdmin: Send + Sync {
    /// Returns flags, including archived ones, whose key or name contains the text, best match first; and active
    /// environments whose name or product contains it. Ignores case. With a product, only its environments, and flags
    /// that are configured there, are returned.
    async fn find(&self, text: &str, product: Option<&str>) -> Result<SearchResults, AdminError>;
}

/// The results.
#[derive(Clone, Debug)]
pub struct SearchResults {
    /// The flags, up to a limit.
    pub flags: Vec<Flag>,
    /// True if more flags match.
    pub has_more_flags: bool,
    /// All environments that match.
    pub environments: Vec<Environment>,
    /// The naming scheme of environments, including those that do not match.
    pub naming: Naming,
}
