//! The lifetime of one connection.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::ConnectInfo;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;
use tower::ServiceExt;

use super::App;
use super::refusal::{Refusing, ResponseProgress};
use crate::http::OnSpareConnection;
use crate::state::AppState;

/// The time limit for a new connection to send the head of its first request.
const FIRST_HEAD_TIME: Duration = Duration::from_secs(10);

/// The same limit for a spare connection.
const SPARE_HEAD_TIME: Duration = Duration::from_secs(2);

/// The time limit from one response to the complete head of the next request. Proxies keep connections for up to a
/// minute, and must close them first. Otherwise, a request can arrive while the server closes its connection.
const NEXT_HEAD_TIME: Duration = Duration::from_secs(75);

/// The time after which a response fails if the peer reads none of it.
const WRITE_TIME: Duration = Duration::from_secs(30);

/// The maximum size of a request's head, in bytes. For a peer that reads slowly, the server buffers at most this much
/// and the last chunk of the response.
pub(super) const HEAD_LIMIT: usize = 64 * 1024;

/// The maximum number of bytes read and discarded from a refused body. They use no memory.
pub(super) const UNWANTED_BYTES: usize = 16 * 1024 * 1024;

/// The time limit for reading a refused body.
pub(super) const UNWANTED_TIME: Duration = Duration::from_secs(2);

/// The phase of a shutdown, for all connections.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// Requests are accepted.
    Open,
    /// The next response on a connection is its last, and idle connections are closed.
    Closing,
    /// Connections with a partial request are closed.
    Overdue,
}

/// True while the connection waits for its peer to send something. When the connection is closing, hyper itself ends it
/// between a response and the next request, so the end of a response need not be recorded here.
#[derive(Clone)]
struct AwaitsPeer(Arc<AtomicBool>);

impl AwaitsPeer {
    fn set(&self, awaits: bool) {
        self.0.store(awaits, Ordering::Relaxed);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The kind of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionKind {
    /// One of the usual number.
    Regular,
    /// One beyond that number, which serves only one request.
    Spare,
}

impl ConnectionKind {
    /// Returns the time limit for a new connection to send the head of its first request.
    fn first_head_time(self) -> Duration {
        match self {
            Self::Regular => FIRST_HEAD_TIME,
            Self::Spare => SPARE_HEAD_TIME,
        }
    }

    fn http(self) -> http1::Builder {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(NEXT_HEAD_TIME)
            .max_header_size(HEAD_LIMIT)
            .max_buf_size(HEAD_LIMIT)
            .keep_alive(self == Self::Regular);
        http
    }
}

/// Serves the requests of a connection until the peer or the phase ends it.
pub(super) async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    app: impl App,
    state: AppState,
    mut phases: watch::Receiver<Phase>,
    kind: ConnectionKind,
) {
    // Otherwise, small responses wait for the peer's acknowledgment. Responses work even if this fails.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(WRITE_TIME));
    let has_request = AtomicBool::new(false);
    let awaits_peer = AwaitsPeer(Arc::new(AtomicBool::new(true)));
    let progress = ResponseProgress::default();
    let stream = Refusing::new(Box::pin(stream), progress.clone(), state);
    let answer = service_fn(|request: Request<Incoming>| {
        has_request.store(true, Ordering::Relaxed);
        awaits_peer.set(false);
        progress.begin();
        let mut request = request.map(|body| DrainedBody::of(body, &awaits_peer));
        request.extensions_mut().insert(ConnectInfo(peer));
        if kind == ConnectionKind::Spare {
            request.extensions_mut().insert(OnSpareConnection);
        }
        let (answer, progress) = (app.clone().oneshot(request), progress.clone());
        async move { answer.await.map(|answer| progress.watch(answer)) }
    });
    let connection = kind.http().serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    let mut first_head = pin!(sleep(kind.first_head_time()));
    let (mut awaits_first_head, mut is_open) = (true, true);
    loop {
        tokio::select! {
            biased;
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, %peer, "connection closed with an error");
                }
                return;
            }
            changed = phases.changed(), if is_open => {
                is_open = changed.is_ok();
                match *phases.borrow_and_update() {
                    Phase::Closing => connection.as_mut().graceful_shutdown(),
                    Phase::Overdue if awaits_peer.get() => return,
                    Phase::Open | Phase::Overdue => {}
                }
            }
            () = &mut first_head, if awaits_first_head => {
                if !has_request.load(Ordering::Relaxed) {
                    return;
                }
                awaits_first_head = false;
            }
        }
    }
}

/// A body that records whether the peer must send more. If it is dropped early, the rest is still received: closing the
/// connection while a refused peer sends would prevent the peer from reading the reason.
struct DrainedBody {
    /// Present until the body is dropped.
    body: Option<Incoming>,
    awaits_peer: AwaitsPeer,
}

impl DrainedBody {
    fn of(body: Incoming, awaits_peer: &AwaitsPeer) -> Body {
        if body.is_end_stream() {
            return Body::new(body);
        }
        let (body, awaits_peer) = (Some(body), awaits_peer.clone());
        Body::new(Self { body, awaits_peer })
    }
}

impl HttpBody for DrainedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        };
        self.awaits_peer.set(frame.is_pending());
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map(HttpBody::size_hint)
            .unwrap_or_default()
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        self.awaits_peer.set(false);
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            let mut rest = Limited::new(body, UNWANTED_BYTES);
            // The result is irrelevant.
            tokio::spawn(timeout(UNWANTED_TIME, async move {
                while let Some(Ok(_)) = rest.frame().await {}
            }));
        }
    }
}
