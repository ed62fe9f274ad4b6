//! Whether the service lives, and whether it should get traffic. No call asks the database: its last known state counts.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Serialize;

use super::respond::Json;
use crate::service::Service;

pub(super) fn router() -> Router<Service> {
    Router::new()
        .route("/health", get(health))
        .route("/health/live", get(health))
        .route("/health/ready", get(health))
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

/// 200 for as long as the process serves: evaluation goes on without the database. The port opens only after the first
/// load of the snapshots, so whoever gets an answer gets it from a service that is ready.
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
