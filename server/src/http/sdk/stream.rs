//! The stream of changes, for clients that want to know at once.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, State};
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use http::header::CACHE_CONTROL;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::client::NamedClient;
use crate::error::Error;
use crate::evaluation::sdk_environment::SdkKey;
use crate::http::event_stream::{EventResult, event_stream};
use crate::http::openapi::shape::{header, text};
use crate::http::openapi::{Answer, Answered, Input, OperationBuilder, Schemas};
use crate::snapshot::{Follower, OpenStream};
use crate::state::Runtime;

/// The default time within which clients fetch a change, in milliseconds.
const USUAL_SPREAD_MS: usize = 250;

/// The maximum of that time that the server sends. It delays a change by as much.
const LONGEST_SPREAD_MS: usize = 5_000;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Sends an event when the configuration has changed.
///
/// Server-Sent Events: one at once, and one whenever the response of `GET /sdk/v1/config` without `keys[]` changes. Of
/// changes in quick succession, only the last may be sent. Lines that begin with a colon show that the stream is alive.
/// It ends when the key is revoked, and when the server stops; the status of the next request distinguishes the two.
///
/// All clients receive an event at the same instant. Each should wait for a random time before it fetches the
/// configuration: up to `spreadMs` milliseconds of the event's data, or up to 250 if the data has no such member.
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
    let current = follower.current().filter(|_| method != Method::HEAD);
    Ok(Changes {
        _open: current.map(|environment| environment.usage().streamed(client)),
        runtime,
        follower,
        known,
    })
}

/// The changes of an environment, as they happen.
pub(super) struct Changes {
    runtime: Runtime,
    follower: Follower,
    /// The identifier of the content that the client knows of.
    known: Option<String>,
    /// Counts the stream while it is open; none for a caller that does not subscribe.
    _open: Option<OpenStream>,
}

/// The data of an event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Changed<'a> {
    etag: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread_ms: Option<usize>,
}

/// Returns the time within which this many clients should fetch a change, in milliseconds, if it exceeds the default:
/// half a millisecond for each, which makes 2,000 requests a second, and 5 seconds at most.
fn spread_ms(clients: usize) -> Option<usize> {
    let spread = (clients / 2).min(LONGEST_SPREAD_MS);
    (spread > USUAL_SPREAD_MS).then_some(spread)
}

impl Changes {
    /// Returns the next event; none when the stream ends.
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
        let unstored = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
        (unstored, event_stream(&runtime, events)).into_response()
    }
}

impl Answer for Changes {
    fn answers(_: &mut Schemas) -> Vec<Answered> {
        // Of one event, as descriptions of streams are read.
        let name = ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(["config"]));
        let id = text("What `Last-Event-ID` takes.").examples(["pFJxH3TEVXmT"]);
        let data = text(
            "A JSON object whose `etag` is that of the configuration. It may have `spreadMs`: within how many \
             milliseconds to fetch it.",
        );
        let event = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some("An event, one of many."))
            .property("event", name)
            .required("event")
            .property("id", id)
            .required("id")
            .property(
                "data",
                data.examples(["{\"etag\":\"W/\\\"pFJxH3TEVXmT\\\"\"}"]),
            )
            .required("data");
        let about = "The events, for as long as the client listens.";
        vec![Answered {
            media_type: "text/event-stream",
            ..Answered::new(StatusCode::OK, about, Some(event.into()))
        }]
    }
}

/// The last event that the client has got on an earlier stream, or else the tag of the configuration that it has.
pub(super) struct LastEventId(Option<String>);

/// Returns the part of an entity tag between its quotation marks. An identifier without any stays unchanged.
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
        let about = "The `id` of the last event that the client has got, or the `ETag` of its configuration: the first event is \
                     left out if it would be the same.";
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
