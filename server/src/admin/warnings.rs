//! Warnings about saved changes. A warning never prevents a change.

use pennon_core::FlagConfig;
use pennon_model::capabilities::{Gap, gaps, since};
use pennon_model::client::Client;
use pennon_model::configuration::FlagEnvironmentId;
use pennon_model::id::EnvironmentId;
use pennon_model::plan::Plan;
use serde::Serialize;
use utoipa::ToSchema;

use super::targeting;
use super::{Admin, usage};
use crate::auth::actor::Actor;
use crate::error::Error;

/// A part of a flag that clients in use cannot read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Warning {
    /// A sentence that names the clients and the parts that they cannot read.
    #[schema(
        example = "Update `@pennon/core/0.1.0`, in use within the last 7 days: it cannot read the operator `==`."
    )]
    pub(crate) detail: String,
    /// The packages with their versions.
    #[schema(example = json!(["@pennon/core/0.1.0"]))]
    pub(crate) clients: Vec<String>,
}

impl From<Gap> for Warning {
    fn from(gap: Gap) -> Self {
        Self {
            detail: gap.to_string(),
            clients: gap.clients.iter().map(Client::to_string).collect(),
        }
    }
}

/// Returns warnings about clients of an environment that cannot read these flags.
pub(crate) fn about<'f>(
    flags: impl IntoIterator<Item = &'f FlagConfig>,
    clients: &[Client],
) -> Vec<Warning> {
    let gaps = gaps(flags, clients, since);
    gaps.into_iter().map(Warning::from).collect()
}

/// Returns warnings about clients in use in the environments of a plan that cannot read the flags.
pub(crate) fn of_plan(plan: &Plan) -> Vec<Warning> {
    plan.gaps().into_iter().map(Warning::from).collect()
}

/// Returns warnings about clients of a flag's environment that cannot read the saved flag. If the database fails, no
/// warnings are returned, because the flag is already saved.
pub(crate) async fn about_saved(
    admin: &Admin,
    actor: &Actor,
    saved: FlagEnvironmentId,
) -> Vec<Warning> {
    about_flag(admin, actor, saved, saved.environment).await
}

/// Returns warnings about clients of an environment that cannot read a flag that is or will be copied there. If the
/// database fails, no warnings are returned.
pub(crate) async fn about_flag(
    admin: &Admin,
    actor: &Actor,
    flag: FlagEnvironmentId,
    environment: EnvironmentId,
) -> Vec<Warning> {
    let warnings = found(admin, actor, flag, environment).await;
    warnings.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot find out which clients can read a flag");
        Vec::new()
    })
}

async fn found(
    admin: &Admin,
    actor: &Actor,
    flag: FlagEnvironmentId,
    environment: EnvironmentId,
) -> Result<Vec<Warning>, Error> {
    let clients = usage::outdated_clients(admin, actor, environment).await?;
    if clients.is_empty() {
        return Ok(Vec::new());
    }
    let flag = targeting::flag_config(admin, actor, flag).await?;
    Ok(about([&flag], &clients))
}
