//! What islands ask about a change that is being typed.

use leptos::prelude::*;
use pennon_model::id::{EnvironmentId, FlagId};

#[cfg(feature = "ssr")]
use crate::{
    components::effect::preview,
    form::Form,
    port::{signed_in, trial::TrialAdmin},
};
use crate::{
    effect::{Change, Preview},
    error::AdminError,
};

/// Says what the flag would do if these fields of a form were saved.
#[server(prefix = "/dashboard/api", endpoint = "preview", input = leptos::server_fn::codec::Json)]
pub async fn preview_change(
    flag: FlagId,
    environment: EnvironmentId,
    change: Change,
    fields: String,
) -> Result<Preview, AdminError> {
    let trial = signed_in::<dyn TrialAdmin>()?;
    let flag = trial.config(flag, environment).await?;
    let clients = trial.outdated_clients(environment).await?;
    let form = Form::parse(fields.as_bytes());
    Ok(preview(&flag, change, &form, &clients))
}
