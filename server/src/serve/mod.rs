//! Limits and timeouts of connections, and graceful shutdown.
//!
//! hyper implements HTTP/1.1. This module limits the cost of each peer: the number of connections, the time to send a
//! request, and the time for which a response can stay unread.

mod accept;
mod connection;
mod files;
mod refusal;

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tower::Service;

use self::accept::Listener;
use self::connection::Phase;
use crate::config::{ListenAddress, Settings};
use crate::http::{edge, metrics_router};
use crate::in_flight::InFlight;
use crate::state::AppState;

/// The period in which requests are still accepted after shutdown begins: those in transit, and those from load
/// balancers that have not noticed the shutdown yet. Each response then ends its connection.
const SHUTDOWN_DELAY: Duration = Duration::from_secs(1);

/// The time limit for connections accepted at the last moment to begin a request.
const LAST_ACCEPTED_TIME: Duration = Duration::from_millis(100);

/// The additional time for peers that have sent part of a request.
const REST_TIME: Duration = Duration::from_secs(1);

/// The interval between checks for partial requests.
const OVERDUE_INTERVAL: Duration = Duration::from_millis(250);

/// The time limit for requests in flight after that. Container runtimes kill a process after 10 seconds, so that there
/// are almost three seconds left to write the last counts and to close the database.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// The size of the operating system's queue of new connections.
const BACKLOG: u32 = 1024;

/// The size of the operating system's buffer for unread response data, in bytes. By default, it grows to several MiB
/// for each connection.
const SEND_BUFFER: u32 = 128 * 1024;

/// The maximum number of connections to the metrics port.
const METRICS_CONNECTIONS: usize = 32;

/// A service that handles requests.
trait App:
    Service<Request, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> App for S where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// The listening sockets of the server.
pub struct Listeners {
    api: TcpListener,
    metrics: Option<TcpListener>,
}

impl Listeners {
    /// Binds the addresses in the settings.
    pub async fn bind(settings: &Settings) -> io::Result<Self> {
        if settings.metrics_listen.as_ref() == Some(&settings.listen) && settings.listen.port() != 0
        {
            return Err(io::Error::other(
                "PENNON_METRICS_LISTEN and PENNON_LISTEN are the same; choose another port for one of them",
            ));
        }
        Ok(Self {
            api: bind("PENNON_LISTEN", &settings.listen).await?,
            metrics: match &settings.metrics_listen {
                Some(listen) => Some(bind("PENNON_METRICS_LISTEN", listen).await?),
                None => None,
            },
        })
    }

    /// Returns the address of the API and the dashboard.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.api.local_addr()
    }

    /// Writes the port of the API into the settings, because the operating system chooses one for port 0.
    pub fn update_port(&self, settings: &mut Settings) -> io::Result<()> {
        let bound = self.address()?.port();
        match &mut settings.listen {
            ListenAddress::Ip(address) => address.set_port(bound),
            ListenAddress::Name(_, port) => *port = bound,
        }
        Ok(())
    }

    /// Returns the address of `/metrics`; none if metrics are disabled.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref()?.local_addr().ok()
    }
}

/// Binds the address of a setting: the first of its IP addresses that belongs to this machine.
async fn bind(setting: &str, listen: &ListenAddress) -> io::Result<TcpListener> {
    let addresses = listen.resolve().await;
    let addresses = addresses.map_err(|error| {
        let remedy = "write an IP address, or a name that this machine can resolve";
        cannot_listen(setting, listen, &error, remedy)
    })?;
    let mut failure = io::Error::from(ErrorKind::AddrNotAvailable);
    for address in addresses {
        match listen_on(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
        if failure.kind() != ErrorKind::AddrNotAvailable {
            break;
        }
    }
    let remedy = match failure.kind() {
        ErrorKind::AddrInUse => "stop the other process, or choose another port",
        ErrorKind::AddrNotAvailable => {
            "choose an address of this machine, or 0.0.0.0 for all of them"
        }
        ErrorKind::PermissionDenied => "choose a port of 1024 or higher, which needs no privilege",
        _ => "choose another address",
    };
    Err(cannot_listen(setting, listen, &failure, remedy))
}

fn cannot_listen(
    setting: &str,
    listen: &ListenAddress,
    error: &io::Error,
    remedy: &str,
) -> io::Error {
    let message = format!("cannot listen on {listen}: {error}; {remedy} ({setting})");
    io::Error::new(error.kind(), message)
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // The port can be bound while connections of the previous process are still closing.
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit this.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves requests until shutdown, then drains: requests in flight are completed, and idle connections are closed.
pub async fn serve(listeners: Listeners, state: AppState, stop: impl Future<Output = ()>) {
    let metrics = listeners
        .metrics
        .map(|listener| tokio::spawn(serve_metrics(listener, state.clone())));
    let app = edge(state.clone());
    let limit = files::raise_limit(state.runtime.settings.max_connections);
    let connections = state.runtime.in_flight.connections.clone();
    let listener = Listener::new(listeners.api, app, state.clone(), limit, connections);
    let stopped = async {
        stop.await;
        state.runtime.drain();
        if listener.is_in_use() {
            sleep(SHUTDOWN_DELAY).await;
        }
    };
    listener.accept_until(stopped).await;
    let connections = listener.close().await;
    if !connections.is_closed() {
        sleep(LAST_ACCEPTED_TIME).await;
    }
    connections.send_replace(Phase::Closing);
    if timeout(REST_TIME, connections.closed()).await.is_err() {
        end_overdue(&connections).await;
    }
    if let Some(metrics) = metrics {
        metrics.abort();
    }
}

/// Waits for requests in flight, but closes connections with partial requests.
async fn end_overdue(connections: &watch::Sender<Phase>) {
    let ended = async {
        loop {
            connections.send_replace(Phase::Overdue);
            if timeout(OVERDUE_INTERVAL, connections.closed())
                .await
                .is_ok()
            {
                return;
            }
        }
    };
    if timeout(DRAIN_TIME, ended).await.is_err() {
        let left = connections.receiver_count();
        tracing::warn!(left, "connections did not end in time");
    }
}

/// Serves the metrics until all other connections have ended.
async fn serve_metrics(listener: TcpListener, state: AppState) {
    let app = metrics_router(state.clone());
    let listener = Listener::new(
        listener,
        app,
        state,
        METRICS_CONNECTIONS,
        InFlight::default(),
    );
    listener.accept_until(std::future::pending()).await;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::routing::get;
    use clap::Parser;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::Notify;

    use super::{InFlight, Listener};
    use crate::cli::CommandLine;
    use crate::clock::{Entropy, SystemClock};
    use crate::config::Secrets;
    use crate::http::protected;
    use crate::state::AppState;

    async fn state() -> AppState {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("pennon.db").display());
        let CommandLine { settings, .. } = CommandLine::try_parse_from(["pennon"]).unwrap();
        let (secrets, clock) = (Secrets::generated(&url), Arc::new(SystemClock));
        let started = AppState::start(settings, secrets, None, clock, Entropy::from_seed(1)).await;
        started.unwrap().0
    }

    /// Sends a request for a path without waiting for the response.
    async fn send_get(stream: &mut TcpStream, path: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: pennon\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
    }

    /// Reads until the response ends with this text.
    async fn read(stream: &mut TcpStream, end: &str) -> String {
        let mut text = String::new();
        while !text.ends_with(end) {
            let mut some = [0; 1024];
            let read = stream.read(&mut some).await.unwrap();
            assert!(read > 0, "the connection ended after {text:?}");
            text.push_str(&String::from_utf8_lossy(&some[..read]));
        }
        text
    }

    #[tokio::test]
    async fn a_panic_is_a_500_and_loses_no_other_request() {
        let state = state().await;
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let slow = {
            let (begun, go_on) = (begun.clone(), go_on.clone());
            async move || {
                begun.notify_one();
                go_on.notified().await;
                "slow"
            }
        };
        let panics = async || -> &'static str { panic!("a secret") };
        let routes = Router::new()
            .route("/panics", get(panics))
            .route("/sdk/v1/panics", get(panics))
            .route("/slow", get(slow));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = protected(routes, state.clone());
        let listener = Listener::new(listener, app, state.clone(), 8, InFlight::default());
        tokio::spawn(async move { listener.accept_until(std::future::pending()).await });

        let mut patient = TcpStream::connect(address).await.unwrap();
        send_get(&mut patient, "/slow").await;
        begun.notified().await;
        let mut unlucky = TcpStream::connect(address).await.unwrap();
        for path in ["/panics", "/sdk/v1/panics", "/panics"] {
            send_get(&mut unlucky, path).await;
            let answer = read(&mut unlucky, "}").await;
            assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
            assert!(answer.contains("INTERNAL_ERROR") && !answer.contains("secret"));
            assert_eq!(
                answer.contains("access-control-allow-origin: *"),
                path.starts_with("/sdk/")
            );
        }
        // The connection of the panicking requests still works, and so do waiting connections.
        send_get(&mut unlucky, "/slow").await;
        begun.notified().await;
        go_on.notify_waiters();
        for stream in [&mut patient, &mut unlucky] {
            assert!(read(stream, "slow").await.starts_with("HTTP/1.1 200 "));
        }
        assert_eq!(state.runtime.in_flight.requests.count(), 0);
    }
}
