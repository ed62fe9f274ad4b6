//! What islands ask about a flag that is being tried.

use leptos::prelude::*;
use pennon_model::id::{EnvironmentId, FlagId};

#[cfg(feature = "ssr")]
use crate::{
    components::trial::{Case, tried},
    form::Form,
    port::{signed_in, trial::TrialAdmin},
};
use crate::{error::AdminError, trial::Tried};

/// Decides a flag in an environment for the context that these fields of a form say, and tells how.
#[server(prefix = "/dashboard/api", endpoint = "try")]
pub async fn try_flag(
    flag: FlagId,
    environment: EnvironmentId,
    fields: String,
) -> Result<Tried, AdminError> {
    let flag = signed_in::<dyn TrialAdmin>()?
        .config(flag, environment)
        .await?;
    let case = Case::from(&Form::parse(fields.as_bytes()));
    Ok(tried(&flag, &case))
}
