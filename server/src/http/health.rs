//! Whether the service lives, and whether it should get traffic. No call asks the database: its last known state counts.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::openapi::{Answer, Answered, Routes, Schemas, route};
use super::respond::Json;
use crate::service::Service;

pub(super) fn routes() -> Routes {
    Routes::group(
        "Health",
        "For load balancers and supervisors. No credential is needed.",
    )
    .with(route!(health))
    .with(route!(live))
    .with(route!(ready))
}

/// How the service is.
#[derive(Serialize, ToSchema)]
struct Health {
    /// `ok`, or `degraded` while the database does not answer, or holds something that cannot be served; the log says
    /// what.
    #[schema(example = "ok")]
    status: &'static str,
    /// The version of the service.
    version: &'static str,
    /// How the database is.
    database: Database,
}

/// How the database was when it was last asked.
#[derive(Serialize, ToSchema)]
struct Database {
    /// `up` or `down`.
    #[schema(example = "up")]
    status: &'static str,
}

/// Says how the service is.
///
/// 200 for as long as the process serves: evaluation goes on without the database.
#[utoipa::path(get, path = "/health")]
async fn health(State(service): State<Service>) -> Json<Health> {
    Json(of(&service))
}

/// Says how the service is, like `/health`.
#[utoipa::path(get, path = "/health/live")]
async fn live(State(service): State<Service>) -> Json<Health> {
    Json(of(&service))
}

/// Says whether traffic should come.
///
/// It should not once the service has been told to stop. Before the first load of the flags nobody gets an answer at all,
/// and a database that is away is no reason to stop evaluating.
#[utoipa::path(get, path = "/health/ready")]
async fn ready(State(service): State<Service>) -> Readiness {
    let health = Json(of(&service));
    if service.is_draining() {
        Readiness::Draining(health)
    } else {
        Readiness::Ready(health)
    }
}

fn of(service: &Service) -> Health {
    let (status, database) = match service.database_answers() {
        true if service.snapshots.faults.are_there() => ("degraded", "up"),
        true => ("ok", "up"),
        false => ("degraded", "down"),
    };
    Health {
        status,
        version: env!("CARGO_PKG_VERSION"),
        database: Database { status: database },
    }
}

/// 200, or 503 while the service stops.
enum Readiness {
    Ready(Json<Health>),
    Draining(Json<Health>),
}

impl IntoResponse for Readiness {
    fn into_response(self) -> Response {
        match self {
            Self::Ready(health) => health.into_response(),
            Self::Draining(health) => (StatusCode::SERVICE_UNAVAILABLE, health).into_response(),
        }
    }
}

impl Answer for Readiness {
    fn answers(schemas: &mut Schemas) -> Vec<Answered> {
        let mut answers = Json::<Health>::answers(schemas);
        let draining = Json::<Health>::answers(schemas).into_iter();
        answers.extend(draining.map(|answered| Answered {
            status: StatusCode::SERVICE_UNAVAILABLE,
            about: "The service is stopping.",
            ..answered
        }));
        answers
    }
}
