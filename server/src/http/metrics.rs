//! The metrics port.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::header::CONTENT_TYPE;

use crate::error::Error;
use crate::metrics::GaugeValue;
use crate::state::AppState;

/// Returns the router of the metrics port.
pub(crate) fn metrics_router(state: AppState) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .fallback(async || Error::NoSuchPath)
        .with_state(state)
}

async fn metrics(State(state): State<AppState>) -> Result<Response, Error> {
    let metrics = state.runtime.metrics.as_ref().ok_or(Error::NoSuchPath)?;
    let text = metrics.text(&gauges(&state))?;
    Ok(([(CONTENT_TYPE, prometheus::TEXT_FORMAT)], text).into_response())
}

/// Returns the current gauges.
fn gauges(state: &AppState) -> [GaugeValue; 9] {
    let (environments, flags) = state.serving.snapshots.size();
    let in_flight = &state.runtime.in_flight;
    [
        GaugeValue {
            name: "http_requests_in_flight",
            help: "Requests in progress.",
            value: number(in_flight.requests.count()),
        },
        GaugeValue {
            name: "http_connections",
            help: "Open connections.",
            value: number(in_flight.connections.count()),
        },
        GaugeValue {
            name: "environments",
            help: "Environments in memory.",
            value: number(environments),
        },
        GaugeValue {
            name: "environment_flags",
            help: "Flags in memory, counted once for each environment.",
            value: number(flags),
        },
        GaugeValue {
            name: "snapshot_age_seconds",
            help: "The time since the database last confirmed the flags in memory.",
            value: state.serving.age().as_secs_f64(),
        },
        GaugeValue {
            name: "database_up",
            help: "1 if the database answered the last query, otherwise 0.",
            value: state.serving.is_database_up().into(),
        },
        GaugeValue {
            name: "database_read_only",
            help: "1 if the database accepted no writes at the last check, otherwise 0.",
            value: state.admin.db.storage().is_read_only().into(),
        },
        GaugeValue {
            name: "storage_full",
            help: "1 if the last write failed because the disk of the database is full, otherwise 0.",
            value: state.admin.db.storage().is_full().into(),
        },
        GaugeValue {
            name: "damaged_data",
            help: "Damaged environments and flags in the database, which are served as they were before.",
            value: number(state.serving.snapshots.faults.count()),
        },
    ]
}

fn number(count: usize) -> f64 {
    u32::try_from(count).unwrap_or(u32::MAX).into()
}
