//! Requests of the page script that concern flags.

use leptos::prelude::*;
#[cfg(feature = "ssr")]
use pennon_model::flag::FlagKey;
use pennon_model::id::{EnvironmentId, FlagId};
use serde::{Deserialize, Serialize};

use crate::error::AdminError;
#[cfg(feature = "ssr")]
use crate::{
    components::flag_switch::SwitchFields,
    port::{flags::FlagAdmin, signed_in, visit},
};

/// Switches a flag in one environment. Returns the switch in its new state as HTML with this label, or an empty string
/// without a label. Fails if the flag's configuration is no longer at this revision.
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
    if let Ok(visit) = visit() {
        visit.offer_undo();
    }
    let drawn = label.map(|label| view! { <SwitchFields label cell/> }.to_html());
    Ok(drawn.unwrap_or_default())
}

/// The verdict on the key of a new flag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyCheck {
    /// True if a new flag can have the key.
    pub is_free: bool,
    /// The reason, as a sentence.
    pub message: String,
}

/// Checks the key of a new flag.
#[server(prefix = "/dashboard/api", endpoint = "check-key")]
pub async fn check_key(key: String) -> Result<KeyCheck, AdminError> {
    let flags = signed_in::<dyn FlagAdmin>()?;
    if let Err(invalid) = FlagKey::try_from(key.clone()) {
        return Ok(KeyCheck {
            is_free: false,
            message: format!("A key {}.", invalid.detail()),
        });
    }
    let is_free = flags.is_key_free(&key).await?;
    let message = if is_free {
        "This key is available."
    } else {
        "An active or archived flag already has this key."
    };
    Ok(KeyCheck {
        is_free,
        message: message.to_owned(),
    })
}
