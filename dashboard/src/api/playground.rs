//! The evaluation of a flag in the playground.

use leptos::prelude::*;
use pennon_model::id::{EnvironmentId, FlagId};

#[cfg(feature = "ssr")]
use crate::{
    components::playground::{ContextForm, evaluate},
    form::Form,
    port::{playground::PlaygroundAdmin, signed_in},
};
use crate::{error::AdminError, evaluated::Evaluated};

/// Evaluates a flag in an environment for the context in these fields of a form, and explains the result.
#[server(prefix = "/dashboard/api", endpoint = "try")]
pub async fn evaluate_flag(
    flag: FlagId,
    environment: EnvironmentId,
    fields: String,
) -> Result<Evaluated, AdminError> {
    let flag = signed_in::<dyn PlaygroundAdmin>()?
        .config(flag, environment)
        .await?;
    let form = ContextForm::from(&Form::parse(fields.as_bytes()));
    Ok(evaluate(&flag, &form))
}
