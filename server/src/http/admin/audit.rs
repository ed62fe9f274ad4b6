//! The audit log.

use axum::extract::State;
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderMap, Uri};
use pennon_model::audit::{AuditEntry, AuditExtra, AuditFilter};
use pennon_model::page::Page;

use super::revert;
use crate::admin::Admin;
use crate::admin::audit;
use crate::auth::actor::Actor;
use crate::error::Error;
use crate::http::DASHBOARD;
use crate::http::audit_export::{self, JsonLines};
use crate::http::code::Code;
use crate::http::fields::from_fields;
use crate::http::from_json::QueryTime;
use crate::http::openapi::{Routes, route};
use crate::http::query::{Paged, Query};
use crate::http::respond::{Json, OrDashboard};

pub(super) fn routes() -> Routes {
    Routes::group(
        "Audit log",
        "Every change, with the object before and after. The entry is written in the transaction of the change.",
    )
    .with(route!(list).refuses(&[Code::Forbidden]))
    .with(route!(export).refuses(&[Code::Forbidden]))
    .with(route!(revert::revert).refuses(&[
        Code::AlreadyReverted,
        Code::NotRevertible,
        Code::FlagArchived,
        Code::FlagEnabled,
        Code::EnvironmentRevoked,
        Code::EnvironmentNameTaken,
        Code::PriorityTaken,
        Code::TooManyRules,
        Code::LastAdmin,
        Code::Stale,
    ]))
}

/// Lists audit entries, newest first.
///
/// Browsers without a credential are redirected to the dashboard page with the same entries.
#[utoipa::path(get, path = "/audit")]
async fn list(
    State(admin): State<Admin>,
    uri: Uri,
    headers: HeaderMap,
    actor: Result<Actor, Error>,
    query: Query<Paged<AuditFilter>>,
) -> Result<OrDashboard<Json<Page<AuditEntry>>>, Error> {
    if is_browser(&headers) {
        return Ok(OrDashboard::Dashboard(page_of(&uri)));
    }
    let actor = actor?;
    let Paged(filter, page) = query.read()?;
    let recorded = audit::list(&admin, &actor, &filter, page).await?;
    Ok(OrDashboard::Here(Json(recorded.map(|each| each.entry))))
}

/// Exports audit entries, newest first.
///
/// The response has one JSON object per line, without pages, and does not contain entries that are added meanwhile.
#[utoipa::path(get, path = "/audit/export")]
async fn export(
    State(admin): State<Admin>,
    actor: Actor,
    query: Query<AuditFilter>,
) -> Result<JsonLines, Error> {
    audit_export::lines(admin, actor, query.read()?).await
}

/// Returns the path of the dashboard page with the same entries.
fn page_of(uri: &Uri) -> String {
    match uri.query() {
        Some(query) => format!("{DASHBOARD}/audit?{query}"),
        None => format!("{DASHBOARD}/audit"),
    }
}

fn is_browser(headers: &HeaderMap) -> bool {
    let accepts =
        |value: &http::HeaderValue| value.to_str().is_ok_and(|text| text.contains("text/html"));
    !headers.contains_key(AUTHORIZATION) && headers.get_all(ACCEPT).iter().any(accepts)
}

from_fields! {
    AuditFilter {
        /// Entries about the flag with exactly this key.
        flag_key: optional("flagKey"),
        /// Entries about environments with exactly this name.
        environment: optional("environment"),
        /// Entries about environments with exactly this product.
        product: optional("product"),
        /// Entries of the actor with exactly this identity: an e-mail address, with the token's name in parentheses if
        /// a token was used.
        actor: optional("actor"),
        /// Entries with this action. Actions on accounts require `include=accounts`.
        action: optional("action"),
        flags_of_product: fixed(false),
        /// Entries from this time on.
        from: optional("from").map(|time: Option<QueryTime>| time.map(|QueryTime(time)| time)),
        /// Entries up to this time.
        to: optional("to").map(|time: Option<QueryTime>| time.map(|QueryTime(time)| time)),
        /// Entries that are omitted by default: changes of users and of their tokens. Requires the role `admin`.
        accounts: optional("include").map(|include| include == Some(AuditExtra::Accounts)),
    }
}
