//! Server-sent events.

use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt as _};
use http::header::CACHE_CONTROL;
use http::{HeaderName, HeaderValue};

use crate::state::Runtime;

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// An event, or the error of serializing it.
pub(super) type EventResult = Result<Event, axum::Error>;

/// Returns a response that streams events. It sends heartbeats while no events occur, and ends when the server stops.
pub(super) fn event_stream(
    runtime: &Runtime,
    events: impl Stream<Item = EventResult> + Send + 'static,
) -> Response {
    let heartbeat = Duration::from_secs(runtime.settings.stream_heartbeat.into());
    let headers = [
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Prevents nginx from buffering events.
        (X_ACCEL_BUFFERING, HeaderValue::from_static("no")),
    ];
    let events = events.take_until(Box::pin(runtime.stopping()));
    let events = Sse::new(events).keep_alive(KeepAlive::new().interval(heartbeat));
    (headers, events).into_response()
}
