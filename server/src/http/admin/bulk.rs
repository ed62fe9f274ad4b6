//! Changes of several flags at once.

use axum::extract::State;
use pennon_model::bulk::{BulkAction, BulkActionName, BulkChange};
use pennon_model::id::FlagId;
use pennon_model::metadata::FlagTags;
use serde_json::json;

use super::dry_run::{ChangedObjects, DryRunOptions};
use crate::admin::desired::check_fingerprint;
use crate::admin::patch::Patch;
use crate::admin::{Admin, bulk};
use crate::auth::authority::AnyEditor;
use crate::error::Error;
use crate::http::body::Body;
use crate::http::code::Code;
use crate::http::fields::{Fields, FromFields};
use crate::http::openapi::{Routes, route};
use crate::http::query::Query;
use crate::http::respond::Json;

/// Adds the route to those of flags.
pub(super) fn added_to(routes: Routes) -> Routes {
    let example = json!({
        "flagIds": ["01a1fa8d-1ad7-7000-be8e-25c8e4232ff5"],
        "action": "tag",
        "addTags": ["checkout"],
    });
    let refusals = [
        Code::FlagNotFound,
        Code::EnvironmentNotFound,
        Code::ConfigurationNotFound,
        Code::EnvironmentRevoked,
        Code::FlagArchived,
        Code::FlagEnabled,
        Code::Stale,
    ];
    routes.with(route!(change_flags).refuses(&refusals).example(example))
}

/// Changes several flags at once: adds and removes tags, archives them, or enables or disables them in an environment.
///
/// All flags change, or none. If some cannot change, `errors` names each and the reason, and `code` is the most
/// important one. Each change is recorded like a change of one flag, and all entries have the same `groupId`. With
/// `dryRun`, nothing is changed.
#[utoipa::path(post, path = "/flags/bulk")]
async fn change_flags(
    State(admin): State<Admin>,
    actor: AnyEditor,
    query: Query<DryRunOptions>,
    body: Body<BulkChange>,
) -> Result<Json<ChangedObjects>, Error> {
    let options = query.read()?;
    let change = body.read().await?;
    let expected = options.fingerprint.as_deref();
    if options.dry_run {
        let plan = bulk::preview(&admin, &actor, &change).await?;
        check_fingerprint(&plan, expected)?;
        return Ok(Json(ChangedObjects::planned(plan)));
    }
    let applied = bulk::apply(&admin, &actor, &change, expected).await?;
    Ok(Json(ChangedObjects::applied(applied)))
}

impl FromFields for BulkChange {
    const ABOUT: &'static str =
        "A change of several flags. The `action` determines the other members.";

    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let flags = flags(fields);
        let action = fields.by_variant("action", action);
        Some(Self {
            flags: flags?,
            action: action?,
        })
    }
}

/// Reads the IDs of the flags.
fn flags(fields: &mut Fields<'_>) -> Option<Vec<FlagId>> {
    let flags: Vec<FlagId> = fields
        .about("The flags, each once.")
        .values("flagIds", 1..=BulkChange::MAX_FLAGS)?;
    let is_repeated =
        |(index, id): (usize, &FlagId)| flags.iter().take(index).any(|known| known == id);
    if flags.iter().enumerate().any(is_repeated) {
        return fields.fault("flagIds", "must contain each flag once");
    }
    Some(flags)
}

/// Reads the members of an action.
fn action(fields: &mut Fields<'_>, name: BulkActionName) -> Option<BulkAction> {
    match name {
        BulkActionName::Tag => tag(fields),
        BulkActionName::Archive => Some(BulkAction::Archive),
        BulkActionName::Enable => switch(fields, true),
        BulkActionName::Disable => switch(fields, false),
    }
}

fn tag(fields: &mut Fields<'_>) -> Option<BulkAction> {
    let mut tags = |name, about| {
        let tags: Patch<FlagTags> = fields.about(about).patch_set(name, 0..=FlagTags::MAX)?;
        Some(tags.applied_to(None).unwrap_or_default())
    };
    let add = tags("addTags", "Tags that each flag gets, unless it has them.");
    let remove = tags("removeTags", "Tags that each flag loses, if it has them.");
    let (add, remove) = (add?, remove?);
    if add.is_empty() && remove.is_empty() {
        return fields.fault(
            "addTags",
            "must have at least one tag, unless `removeTags` has one",
        );
    }
    if !add.is_disjoint(&remove) {
        return fields.fault("removeTags", "must not contain a tag of `addTags`");
    }
    Some(BulkAction::Tag { add, remove })
}

fn switch(fields: &mut Fields<'_>, is_enabled: bool) -> Option<BulkAction> {
    let about = "The environment in which the flags are enabled or disabled.";
    Some(BulkAction::Switch {
        environment: fields.about(about).required("environmentId")?,
        is_enabled,
    })
}
