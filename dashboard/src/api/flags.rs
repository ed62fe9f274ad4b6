//! What islands do with flags.

use leptos::prelude::*;
use pennon_model::id::{EnvironmentId, FlagId};

#[cfg(feature = "ssr")]
use crate::port::{flags::FlagAdmin, signed_in};
use crate::{error::AdminError, model::Switched};

/// Switches a flag in one environment and answers how it stands afterwards; refused if its configuration there is no
/// longer in this revision.
#[server(prefix = "/dashboard/api", endpoint = "set-enabled")]
pub async fn set_enabled(
    flag: FlagId,
    environment: EnvironmentId,
    enabled: bool,
    revision: Option<i64>,
) -> Result<Switched, AdminError> {
    signed_in::<dyn FlagAdmin>()?
        .set_enabled(flag, environment, enabled, revision)
        .await
}

/// Whether a new flag could have this key.
#[server(prefix = "/dashboard/api", endpoint = "is-key-free")]
pub async fn is_key_free(key: String) -> Result<bool, AdminError> {
    signed_in::<dyn FlagAdmin>()?.is_key_free(&key).await
}
