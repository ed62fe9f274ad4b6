//! The stream of live evaluations for an open dashboard page.

use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use pennon_dashboard::error::AdminError;
use pennon_dashboard::form::Form;
use pennon_model::time::Timestamp;
use tokio::time::sleep;

use super::event_stream::{EventResult, event_stream};
use super::stream_session::StreamSession;
use crate::admin::live_evaluations;
use crate::auth::actor::Person;
use crate::in_flight::Permit;
use crate::snapshot::{TICK, Watch};
use crate::state::AppState;

/// The maximum number of these streams on an instance. [`AdminError::TooManyWatchers`] repeats it.
const MAX_STREAMS: usize = 8;

/// The time after which a stream ends, in milliseconds.
const DURATION_MILLIS: i64 = 10 * 60 * 1000;

/// The stream for one page. It ends with the session, after a change of the role, when the environment is revoked, when
/// the server stops, and in time.
pub(super) struct LiveEvaluations {
    state: AppState,
    person: Person,
    watch: Watch,
    ends_at: Timestamp,
    has_ended: bool,
    _permit: Permit,
}

impl LiveEvaluations {
    /// Begins the stream for the environment, and the flag if there is one, in a query.
    pub(super) async fn begin(
        state: AppState,
        person: Person,
        query: &Form,
    ) -> Result<Self, AdminError> {
        let actor = person.any_editor()?;
        let environment = query.parsed("environment").ok_or(AdminError::NotFound)?;
        let flag = Some(query.text("flag")).filter(|flag| !flag.is_empty());
        let watch = live_evaluations::watch(&state.admin, &actor, environment, flag).await?;
        let streams = &state.runtime.in_flight.live_evaluations;
        let permit = streams.try_acquire(MAX_STREAMS);
        Ok(Self {
            person,
            watch,
            ends_at: state.admin.clock.now().plus_millis(DURATION_MILLIS),
            has_ended: false,
            _permit: permit.ok_or(AdminError::TooManyWatchers)?,
            state,
        })
    }

    /// Returns the next event; none at the end of the stream.
    async fn next(&mut self) -> Option<EventResult> {
        if self.has_ended {
            return None;
        }
        let until_end = async {
            while self.state.admin.clock.now() < self.ends_at {
                sleep(TICK).await;
            }
        };
        tokio::select! {
            watched = self.watch.next() => {
                Some(Event::default().event("evaluations").json_data(watched?))
            }
            () = until_end => {
                self.has_ended = true;
                Some(Ok(Event::default().event("ended").data("")))
            }
        }
    }
}

impl IntoResponse for LiveEvaluations {
    fn into_response(self) -> Response {
        let runtime = self.state.runtime.clone();
        let session = StreamSession::new(self.state.clone(), self.person.clone());
        let events = unfold(self, async |mut evaluations| {
            let event = evaluations.next().await?;
            Some((event, evaluations))
        });
        let events = events.take_until(Box::pin(session.ended()));
        event_stream(&runtime, events)
    }
}
