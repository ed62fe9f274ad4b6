//! Limits the number of requests in flight.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use crate::error::Error;
use crate::in_flight::{Arriving, InFlight, InFlightLimits, Permit, SuspendedPermit};
use crate::state::AppState;

/// Marks the requests of a spare connection, on which only health checks are admitted.
#[derive(Clone)]
pub(crate) struct OnSpareConnection;

/// Admits a request unless the maximum number of requests is in flight. A refused caller can retry, whereas an
/// unbounded queue would delay everybody. Health checks are always admitted.
///
/// A request counts until the head of its response is ready, so an event stream counts only until it begins. A request
/// does not count while the server waits for the rest of its body. Otherwise, slow peers could cause the refusal of all
/// other requests.
pub(super) fn admit(state: &AppState, request: Request) -> Option<(Request, Permit)> {
    let limit = if request.uri().path().starts_with("/health") {
        usize::MAX
    } else if request.extensions().get::<OnSpareConnection>().is_some() {
        0
    } else {
        usize::try_from(state.runtime.settings.max_in_flight).unwrap_or(usize::MAX)
    };
    let in_flight = &state.runtime.in_flight;
    let present = in_flight.requests.try_acquire(limit)?;
    Some((
        request.map(|body| PausableBody::of(body, in_flight, limit)),
        present,
    ))
}

/// Returns the response to a request that is not admitted.
pub(super) fn refused(state: &AppState) -> Response {
    if let Some(metrics) = &state.runtime.metrics {
        metrics.shed.inc();
    }
    Error::Overloaded.into_response()
}

/// A body whose request does not count as in flight while it waits for the peer. Instead, the bytes that have arrived
/// count.
struct PausableBody {
    body: Body,
    in_flight: InFlight,
    limit: usize,
    waiting: Option<SuspendedPermit>,
    arriving: Arriving,
}

/// A limit was reached when the peer sent the rest of its request, or before.
#[derive(Debug, thiserror::Error)]
#[error("too many requests are in progress")]
pub(super) struct InFlightLimitReached;

impl PausableBody {
    fn of(body: Body, in_flight: &InFlightLimits, limit: usize) -> Body {
        if body.is_end_stream() {
            return body;
        }
        Body::new(Self {
            body,
            in_flight: in_flight.requests.clone(),
            limit,
            waiting: None,
            arriving: Arriving::new(&in_flight.incomplete_bodies),
        })
    }
}

impl HttpBody for PausableBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let frame = Pin::new(&mut this.body).poll_frame(context);
        let refused = || Poll::Ready(Some(Err(axum::Error::new(InFlightLimitReached))));
        if frame.is_pending() {
            if !this.arriving.wait() {
                return refused();
            }
            this.waiting.get_or_insert_with(|| this.in_flight.suspend());
            return Poll::Pending;
        }
        let is_back = this.waiting.take().is_some();
        if is_back && this.in_flight.count() > this.limit {
            return refused();
        }
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            this.arriving.add(frame.data_ref().map_or(0, Bytes::len));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use axum::body::to_bytes;
    use futures_util::{FutureExt as _, StreamExt as _, stream};
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    /// Returns a body that arrives when the sender is used.
    fn slow() -> (Body, oneshot::Sender<Bytes>) {
        let (rest, body) = oneshot::channel();
        (Body::from_stream(stream::once(body)), rest)
    }

    /// Waits until nothing else can happen. Returns true if the read is still pending.
    async fn is_idle(reading: &mut (impl Future + Unpin)) -> bool {
        timeout(Duration::ZERO, reading).await.is_err()
    }

    #[tokio::test]
    async fn a_request_that_waits_for_its_body_leaves_room_and_returns_if_there_is_any() {
        let limits = InFlightLimits::default();
        let in_flight = &limits.requests;
        for is_full in [false, true] {
            let (body, rest) = slow();
            let present = in_flight.try_acquire(1).unwrap();
            let mut reading = Box::pin(to_bytes(PausableBody::of(body, &limits, 1), 100));
            assert!(is_idle(&mut reading).await);
            assert_eq!(in_flight.count(), 0);
            let other = is_full.then(|| in_flight.try_acquire(1).unwrap());
            rest.send("rest".into()).unwrap();
            match reading.await {
                Ok(bytes) => assert_eq!((&*bytes, is_full), (&b"rest"[..], false)),
                Err(error) => {
                    assert!(
                        is_full && super::super::body::is_caused_by::<InFlightLimitReached>(&error)
                    );
                }
            }
            drop((present, other));
            assert_eq!(in_flight.count(), 0);
        }
    }

    #[tokio::test]
    async fn a_body_that_is_given_up_leaves_the_count_right() {
        let limits = InFlightLimits::default();
        let in_flight = &limits.requests;
        let (body, _rest) = slow();
        let present = in_flight.try_acquire(1).unwrap();
        let mut reading = Box::pin(to_bytes(PausableBody::of(body, &limits, 1), 100));
        assert!(is_idle(&mut reading).await);
        drop(reading);
        assert_eq!(in_flight.count(), 1);
        drop(present);
        assert_eq!(in_flight.count(), 0);
    }

    #[tokio::test]
    async fn parts_of_incomplete_bodies_may_take_only_so_much_memory() {
        const PART: usize = 1024 * 1024;
        let limits = InFlightLimits::default();
        // A part of a body, whose rest does not arrive.
        let begun = || {
            let part = Ok::<_, Infallible>(Bytes::from(vec![0; PART]));
            let body = stream::iter([part]).chain(stream::pending());
            let body = PausableBody::of(Body::from_stream(body), &limits, 1);
            Box::pin(to_bytes(body, 2 * PART))
        };
        let mut waiting = Vec::new();
        let refused = loop {
            let mut reading = begun();
            match (&mut reading).now_or_never() {
                None => waiting.push(reading),
                Some(read) => break read.unwrap_err(),
            }
        };
        assert!(super::super::body::is_caused_by::<InFlightLimitReached>(
            &refused
        ));
        assert_eq!(waiting.len(), 64, "half of 128 MiB");
        waiting.pop();
        assert!(begun().now_or_never().is_none());
    }
}
