//! Liveness and readiness checks. They report the last known state of the database, without a query.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::openapi::{Answer, Answered, Routes, Schemas, route};
use super::respond::Json;
use crate::state::AppState;

pub(super) fn routes() -> Routes {
    Routes::group(
        "Health",
        "Health checks for load balancers and supervisors. They require no credential.",
    )
    .with(route!(health))
    .with(route!(live))
    .with(route!(ready))
}

/// The state of the server.
#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok`, or `degraded` if `reasons` is not empty.
    #[schema(example = "ok")]
    status: &'static str,
    /// The reasons for the status `degraded`. The log has the details.
    reasons: Vec<Reason>,
    /// The version of the server.
    version: &'static str,
    /// The state of the database.
    database: Database,
}

/// A reason why the server is degraded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = DegradedReason)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Reason {
    /// The database does not respond. Evaluation continues from memory, and administration fails.
    DatabaseUnavailable,
    /// The database is read-only. Reads and evaluation continue; changes and sign-ins fail.
    DatabaseReadOnly,
    /// The disk of the database is full. Reads and evaluation continue; changes and sign-ins fail.
    StorageFull,
    /// Stored data cannot be read. The last readable state is served.
    UnreadableData,
}

/// The last known state of the database.
#[derive(Serialize, ToSchema)]
struct Database {
    /// `up` or `down`.
    #[schema(example = "up")]
    status: &'static str,
}

/// Reports the health of the server.
///
/// Returns 200 while the process runs, because evaluation continues without the database.
#[utoipa::path(get, path = "/health")]
async fn health(State(state): State<AppState>) -> Json<Health> {
    Json(of(&state))
}

/// Reports the health of the server, like `/health`.
#[utoipa::path(get, path = "/health/live")]
async fn live(State(state): State<AppState>) -> Json<Health> {
    Json(of(&state))
}

/// Reports whether the server accepts traffic.
///
/// Returns 503 during shutdown. The server answers no requests before it has loaded all flags. An unavailable database
/// does not affect readiness, because evaluation continues.
#[utoipa::path(get, path = "/health/ready")]
async fn ready(State(state): State<AppState>) -> Readiness {
    let status = if state.runtime.is_draining() {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::OK
    };
    Readiness(status, Json(of(&state)))
}

fn of(state: &AppState) -> Health {
    let reasons = reasons(state);
    Health {
        status: if reasons.is_empty() { "ok" } else { "degraded" },
        version: env!("CARGO_PKG_VERSION"),
        database: Database {
            status: if reasons.contains(&Reason::DatabaseUnavailable) {
                "down"
            } else {
                "up"
            },
        },
        reasons,
    }
}

fn reasons(state: &AppState) -> Vec<Reason> {
    if !state.serving.is_database_up() {
        return vec![Reason::DatabaseUnavailable];
    }
    let storage = state.admin.db.storage();
    [
        (storage.is_read_only(), Reason::DatabaseReadOnly),
        (storage.is_full(), Reason::StorageFull),
        (
            state.serving.snapshots.faults.count() > 0,
            Reason::UnreadableData,
        ),
    ]
    .into_iter()
    .filter_map(|(applies, reason)| applies.then_some(reason))
    .collect()
}

/// 200, or 503 during shutdown.
struct Readiness(StatusCode, Json<Health>);

impl IntoResponse for Readiness {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

impl Answer for Readiness {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let mut answers = Json::<Health>::answers(schemas);
        let draining = Json::<Health>::answers(schemas).into_iter();
        answers.extend(draining.map(|answered| Answered {
            status: StatusCode::SERVICE_UNAVAILABLE,
            about: "The server is shutting down.",
            ..answered
        }));
        answers
    }
}
