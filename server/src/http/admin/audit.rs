//! The audit log.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use http::HeaderMap;
use http::header::{ACCEPT, AUTHORIZATION};
use pennon_core::model::audit::AuditExtra;

use crate::auth::actor::Actor;
use crate::error::Error;
use crate::http::DASHBOARD;
use crate::http::query::{FromParameters, Paged, Parameters, Query};
use crate::http::respond::Json;
use crate::service::{Service, audit};
use crate::store::audit::AuditFilter;

pub(super) fn router() -> Router<Service> {
    Router::new().route("/audit", get(list))
}

/// The entries; a browser that was pointed here by hand is sent to the dashboard instead.
async fn list(
    State(service): State<Service>,
    headers: HeaderMap,
    actor: Result<Actor, Error>,
    query: Query<Paged<AuditFilter>>,
) -> Result<Response, Error> {
    if is_browser(&headers) {
        return Ok(Redirect::to(DASHBOARD).into_response());
    }
    let actor = actor?;
    let Paged(filter, page) = query.read()?;
    Ok(Json(audit::list(&service, &actor, &filter, page).await?).into_response())
}

fn is_browser(headers: &HeaderMap) -> bool {
    let accepts =
        |value: &http::HeaderValue| value.to_str().is_ok_and(|text| text.contains("text/html"));
    !headers.contains_key(AUTHORIZATION) && headers.get_all(ACCEPT).iter().any(accepts)
}

impl FromParameters for AuditFilter {
    fn from_parameters(parameters: &mut Parameters) -> Option<Self> {
        let flag_key = parameters.optional("flagKey");
        let environment = parameters.optional("environment");
        let from = parameters.optional("from");
        let to = parameters.optional("to");
        let include = parameters.optional::<AuditExtra>("include");
        Some(Self {
            flag_key: flag_key?,
            environment: environment?,
            from: from?,
            to: to?,
            accounts: include? == Some(AuditExtra::Accounts),
        })
    }
}
