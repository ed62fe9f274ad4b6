//! Whether the service lives, and whether it should get traffic. No call asks the database: its last known state counts.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use serde::Serialize;

use super::respond::Json;
use crate::service::Service;

pub(super) fn router() -> Router<Service> {
    Router::new()
        .route("/health", get(health))
        .route("/health/live", get(health))
        .route("/health/ready", get(ready))
}

#[derive(Serialize)]
struct Health {
    status: &'static str,
    version: &'static str,
    database: Database,
}

#[derive(Serialize)]
struct Database {
    status: &'static str,
}

/// Whether traffic should come: not once the service has been told to stop. Before the first load of the snapshots nobody
/// gets an answer at all, and a database that is away is no reason to stop evaluating.
async fn ready(State(service): State<Service>) -> Response {
    let status = if service.is_draining() {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::OK
    };
    (status, health(State(service)).await).into_response()
}

/// 200 for as long as the process serves: evaluation goes on without the database.
async fn health(State(service): State<Service>) -> Json<Health> {
    let (status, database) = if service.database_answers() {
        ("ok", "up")
    } else {
        ("degraded", "down")
    };
    Json(Health {
        status,
        version: env!("CARGO_PKG_VERSION"),
        database: Database { status: database },
    })
}
