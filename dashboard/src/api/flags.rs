//! What islands do with flags.

use leptos::prelude::*;
use pennon_model::id::{EnvironmentId, FlagId};

use crate::error::AdminError;
#[cfg(feature = "ssr")]
use crate::{
    components::flag_switch::SwitchFields,
    port::{flags::FlagAdmin, signed_in},
};

/// Switches a flag in one environment and returns the switch as HTML, with this label, as it is afterwards; an empty text
/// without a label. Refused if its configuration there is no longer in this revision.
#[server(prefix = "/dashboard/api", endpoint = "set-enabled")]
pub async fn set_enabled(
    flag: FlagId,
    environment: EnvironmentId,
    enabled: bool,
    revision: Option<i64>,
    label: Option<String>,
) -> Result<String, AdminError> {
    let cell = signed_in::<dyn FlagAdmin>()?
        .set_enabled(flag, environment, enabled, revision)
        .await?;
    let drawn = label.map(|label| view! { <SwitchFields label cell/> }.to_html());
    Ok(drawn.unwrap_or_default())
}

/// Whether a new flag could have this key.
#[server(prefix = "/dashboard/api", endpoint = "is-key-free")]
pub async fn is_key_free(key: String) -> Result<bool, AdminError> {
    signed_in::<dyn FlagAdmin>()?.is_key_free(&key).await
}
