//! Server-Sent Events.

use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt as _};
use http::{HeaderName, HeaderValue};

use crate::state::Runtime;

/// An event, or that it cannot be written.
pub(super) type EventResult = Result<Event, axum::Error>;

/// A response that streams events. It sends heartbeats when none occur, and ends when the service stops.
pub(super) fn event_stream(
    runtime: &Runtime,
    events: impl Stream<Item = EventResult> + Send + 'static,
) -> Response {
    let heartbeat = Duration::from_secs(runtime.settings.stream_heartbeat.into());
    // Nginx would otherwise hold events back until it has enough of them.
    let unbuffered = (
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    let events = events.take_until(Box::pin(runtime.stopping()));
    let events = Sse::new(events).keep_alive(KeepAlive::new().interval(heartbeat));
    ([unbuffered], events).into_response()
}
