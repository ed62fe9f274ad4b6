//! What islands do with flags.

use leptos::prelude::*;
use pennon_core::model::id::{EnvironmentId, FlagId};

use crate::error::AdminError;
#[cfg(feature = "ssr")]
use crate::port::{flags::FlagAdmin, signed_in};

/// Switches a flag in one environment and answers how it stands afterwards.
#[server(prefix = "/dashboard/api", endpoint = "set-enabled")]
pub async fn set_enabled(
    flag: FlagId,
    environment: EnvironmentId,
    enabled: bool,
) -> Result<bool, AdminError> {
    signed_in::<dyn FlagAdmin>()?
        .set_enabled(flag, environment, enabled)
        .await
}
