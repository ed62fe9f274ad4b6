//! The preview of a change while the user edits it.

use leptos::prelude::*;
use pennon_model::id::{EnvironmentId, FlagId};

#[cfg(feature = "ssr")]
use crate::{
    components::effect::preview,
    form::Form,
    port::{playground::PlaygroundAdmin, signed_in},
};
use crate::{
    error::AdminError,
    preview::{Preview, ProposedChange},
};

/// Returns the effect that saving these fields of a form would have on the flag.
#[server(prefix = "/dashboard/api", endpoint = "preview", input = leptos::server_fn::codec::Json)]
pub async fn preview_change(
    flag: FlagId,
    environment: EnvironmentId,
    change: ProposedChange,
    fields: String,
) -> Result<Preview, AdminError> {
    let playground = signed_in::<dyn PlaygroundAdmin>()?;
    let flag = playground.config(flag, environment).await?;
    let clients = playground.outdated_clients(environment).await?;
    let form = Form::parse(fields.as_bytes());
    Ok(preview(&flag, change, &form, &clients))
}
