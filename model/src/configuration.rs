//! The configuration of a flag in an environment.

use pennon_core::ttl::Ttl;
use serde::{Deserialize, Serialize};

use crate::id::{EnvironmentId, FlagId};

/// The configuration of one flag in one environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Configuration {
    /// The flag.
    pub flag_id: FlagId,
    /// The environment.
    pub environment_id: EnvironmentId,
    /// Whether the flag is enabled there; false when the pair comes into being.
    pub is_enabled: bool,
    /// How long clients may keep the flag, where that differs from their default of 60 seconds.
    #[serde(rename = "ttlOverrideSeconds")]
    #[cfg_attr(feature = "schema", schema(required))]
    pub ttl: Option<Ttl>,
    /// Raised by every change.
    #[serde(skip)]
    pub revision: i64,
}
