//! The stream of changes for open dashboard pages.
//!
//! An event contains the action, the object, the environment and the author of a change, but not the new state. A page
//! that needs the state requests it, and receives only what its user is allowed to see.

use std::time::Duration;

use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use pennon_dashboard::audit::event::sentence_of_event;
use pennon_model::audit::{AuditAction, ChangeEvent, RequestId};
use pennon_model::id::EnvironmentId;
use pennon_model::time::Timestamp;
use serde::Serialize;

use super::event_stream::{EventResult, event_stream};
use super::stream_session::StreamSession;
use crate::admin::audit::newest;
use crate::auth::actor::Person;
use crate::state::AppState;

/// The minimum delay before a browser reconnects after the end of the stream. The maximum is twice as long, so that not
/// all pages return to a server at the moment of its restart.
const MIN_RETRY: Duration = Duration::from_secs(1);

/// The stream for one browser. It ends with the session, after a change of the role, and when the server stops.
pub(super) struct Events {
    state: AppState,
    session: StreamSession,
    /// True after the first event was sent.
    begun: bool,
}

/// A change, as sent to browsers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeMessage<'n> {
    action: AuditAction,
    is_about_accounts: bool,
    is_about_environments: bool,
    /// The time at which the change became visible, in milliseconds. It is later than the date of its audit entry if
    /// its transaction took long, and a page that was rendered in between does not contain the change.
    at: i64,
    by: &'n str,
    #[serde(skip_serializing_if = "Option::is_none")]
    flag: Option<&'n str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<EnvironmentId>,
    /// The ID of the request that made the change, so that a page can recognize its own changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'n str>,
    /// A description of the change, which follows the author's name.
    what: String,
}

/// The state at the start of the stream.
#[derive(Serialize)]
struct StreamPosition {
    /// The time of the last change, in milliseconds; none if nothing has changed yet.
    at: Option<i64>,
}

impl Events {
    pub(super) fn new(state: AppState, person: Person) -> Self {
        // The session subscribes before the first event is created, so that no change is missed in between.
        let session = StreamSession::new(state.clone(), person);
        Self {
            state,
            session,
            begun: false,
        }
    }

    /// Returns the next event; none at the end of the stream.
    async fn next(&mut self) -> Option<EventResult> {
        if !self.begun {
            self.begun = true;
            return self.position().await;
        }
        loop {
            let change = self.session.next_change().await?;
            if let Some(event) = self.event(&change) {
                return Some(event);
            }
        }
    }

    async fn position(&self) -> Option<EventResult> {
        let newest = newest(&self.state.admin, self.session.person())
            .await
            .ok()?;
        let position = StreamPosition {
            at: newest.map(Timestamp::millis),
        };
        let [random] = self.state.admin.entropy.bytes();
        Some(
            Event::default()
                .event("position")
                .retry(MIN_RETRY + MIN_RETRY * u32::from(random) / 255)
                .json_data(position),
        )
    }

    /// Returns the event for a change; none if this user may not see it.
    fn event(&self, change: &ChangeEvent) -> Option<EventResult> {
        if change.action.is_about_accounts() && self.session.person().administrator().is_err() {
            return None;
        }
        let message = ChangeMessage {
            action: change.action,
            is_about_accounts: change.action.is_about_accounts(),
            is_about_environments: change.action.is_about_environments(),
            at: self.state.admin.clock.now().millis(),
            by: &change.actor,
            flag: change.flag.as_deref(),
            environment: change.environment,
            request: change.request.as_ref().map(RequestId::as_str),
            what: sentence_of_event(change),
        };
        Some(Event::default().event("change").json_data(message))
    }
}

impl IntoResponse for Events {
    fn into_response(self) -> Response {
        let runtime = self.state.runtime.clone();
        let events = unfold(self, async |mut events| {
            let event = events.next().await?;
            Some((event, events))
        });
        event_stream(&runtime, events)
    }
}
