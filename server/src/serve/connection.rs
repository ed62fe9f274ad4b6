//! One connection, from its first byte to its last.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutWriter;
use tower::ServiceExt;

/// How long a new connection may take until the head of its first request is complete.
const FIRST_HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a connection may take from one answer until the head of the next request is complete. Proxies keep
/// connections for up to a minute; whoever closes first must be they, or a request crosses the end of its connection.
const NEXT_HEAD_TIME: Duration = Duration::from_secs(75);

/// How long a peer may take nothing of an answer that waits for it.
const WRITE_TIME: Duration = Duration::from_secs(30);

/// The most that the head of a request may have, in bytes.
const HEAD_LIMIT: usize = 64 * 1024;

/// Answers the requests of a connection until it ends, or until the watcher says that the next answer is the last.
pub(super) async fn converse(stream: TcpStream, peer: SocketAddr, app: Router, watcher: Watcher) {
    // Without it small answers would wait for the peer's acknowledgement. That it fails is no reason not to answer.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(WRITE_TIME));
    let has_asked = AtomicBool::new(false);
    let answer = service_fn(|request: Request<Incoming>| {
        has_asked.store(true, Ordering::Relaxed);
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        app.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(NEXT_HEAD_TIME)
        .max_header_size(HEAD_LIMIT)
        .serve_connection(TokioIo::new(Box::pin(stream)), answer);
    let mut connection = pin!(watcher.watch(connection));
    let ended = match timeout(FIRST_HEAD_TIME, &mut connection).await {
        Ok(ended) => ended,
        Err(_) if has_asked.load(Ordering::Relaxed) => connection.await,
        Err(_) => return,
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection ended badly");
    }
}
