//! The stream that notifies clients of changes immediately.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, State};
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use http::request::Parts;
use http::{HeaderName, Method, StatusCode};
use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::client::NamedClient;
use crate::error::Error;
use crate::evaluation::sdk_environment::SdkKey;
use crate::http::event_stream::{EventResult, event_stream};
use crate::http::openapi::shape::{header, text};
use crate::http::openapi::{Answer, Answered, Input, OperationBuilder, Schemas};
use crate::snapshot::{Follower, OpenStreams};
use crate::state::Runtime;

/// The default time within which clients fetch a change, in milliseconds.
const USUAL_SPREAD_MS: usize = 250;

/// The maximum of `spreadMs`, in milliseconds. It is also the maximum delay that it adds to a change.
const LONGEST_SPREAD_MS: usize = 5_000;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Sends an event when the config document changes.
///
/// The response consists of server-sent events: one immediately, and one whenever the response of `GET /sdk/v1/config`
/// without `keys[]` changes. Of several changes in quick succession, only the last may be sent. Lines that begin with a
/// colon keep the stream alive. It ends when the SDK key is revoked and when the server stops; the status of the next
/// request shows which.
///
/// All clients receive an event at the same time. Before fetching the config document, each should wait for a random
/// time of up to `spreadMs` milliseconds, a member of the event's data. Without that member, the maximum is 250
/// milliseconds.
#[utoipa::path(get, path = "/stream")]
pub(super) async fn stream(
    State(runtime): State<Runtime>,
    key: SdkKey,
    LastEventId(known): LastEventId,
    NamedClient(client): NamedClient,
    method: Method,
) -> Result<Changes, Error> {
    let follower = key.follow()?;
    // A `HEAD` request does not subscribe.
    let is_open = method != Method::HEAD;
    Ok(Changes {
        _open: is_open.then(|| follower.count_stream(client)).flatten(),
        runtime,
        follower,
        known,
    })
}

/// The changes of an environment, as a stream of events.
pub(super) struct Changes {
    runtime: Runtime,
    follower: Follower,
    /// The ID of the content that the client has.
    known: Option<String>,
    /// Counts the open stream; none for a caller that does not subscribe.
    _open: Option<OpenStreams>,
}

/// The data of an event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Changed<'a> {
    etag: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread_ms: Option<usize>,
}

/// Returns the time over which this many clients should spread their fetches, in milliseconds, if it exceeds the
/// default. It is half a millisecond for each client, or 2,000 requests per second, and at most 5 seconds.
fn spread_ms(clients: usize) -> Option<usize> {
    let spread = (clients / 2).min(LONGEST_SPREAD_MS);
    (spread > USUAL_SPREAD_MS).then_some(spread)
}

impl Changes {
    /// Returns the next event; none at the end of the stream.
    async fn next(&mut self) -> Option<EventResult> {
        loop {
            let document = self.follower.next().await?.document().await;
            let (etag, id) = (document.etag(), document.id());
            if self.known.as_deref() != Some(id) {
                self.known = Some(id.to_owned());
                let event = Event::default().event("config").id(id);
                let spread_ms = spread_ms(self.follower.followers());
                return Some(event.json_data(Changed { etag, spread_ms }));
            }
        }
    }
}

impl IntoResponse for Changes {
    fn into_response(self) -> Response {
        let runtime = self.runtime.clone();
        let events = unfold(self, async |mut changes| {
            let event = changes.next().await?;
            Some((event, changes))
        });
        event_stream(&runtime, events)
    }
}

impl Answer for Changes {
    fn answers(_: &mut Schemas) -> Vec<Answered> {
        // The schema describes a single event, as is usual for streams.
        let name = ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(["config"]));
        let id = text("The value to send as `Last-Event-ID`.").examples(["pFJxH3TEVXmT"]);
        let data = text(
            "A JSON object. Its `etag` is that of the config document. Its optional `spreadMs` is the maximum random \
             delay before fetching the document, in milliseconds.",
        );
        let event = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("One event of the stream."))
            .property("event", name)
            .required("event")
            .property("id", id)
            .required("id")
            .property(
                "data",
                data.examples(["{\"etag\":\"W/\\\"pFJxH3TEVXmT\\\"\"}"]),
            )
            .required("data");
        let about = "A stream of events, which stays open.";
        vec![Answered {
            media_type: "text/event-stream",
            ..Answered::new(StatusCode::OK, about, Some(event.into()))
        }]
    }
}

/// The last event that the client received on an earlier stream, or the tag of its config document.
pub(super) struct LastEventId(Option<String>);

/// Returns the text between the quotation marks of an entity tag. An ID without quotation marks is returned unchanged.
fn opaque_tag(id: &str) -> &str {
    let tag = id.strip_prefix("W/").unwrap_or(id);
    let quoted = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
    quoted.unwrap_or(id)
}

impl<S: Sync> FromRequestParts<S> for LastEventId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let id = parts.headers.get(LAST_EVENT_ID);
        let id = id.and_then(|id| id.to_str().ok());
        Ok(Self(id.map(|id| opaque_tag(id).to_owned())))
    }
}

impl Input for LastEventId {
    fn describe(builder: &mut OperationBuilder<'_>) {
        let about = "The `id` of the last event that the client received, or the `ETag` of its config document. If \
                     that is still current, the first event is omitted.";
        builder.parameter(header("Last-Event-ID", about));
    }
}

#[cfg(test)]
mod tests {
    use super::spread_ms;

    #[test]
    fn the_more_clients_follow_the_longer_they_take_to_fetch_a_change() {
        let spreads = [0, 1, 501, 502, 2_000, 10_000, 1_000_000].map(spread_ms);
        assert_eq!(
            spreads,
            [
                None,
                None,
                None,
                Some(251),
                Some(1_000),
                Some(5_000),
                Some(5_000)
            ]
        );
    }
}
