//! Accepts connections, up to a limit.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::App;
use super::connection::{ConnectionKind, Phase, serve_connection};
use crate::in_flight::{InFlight, Permit};
use crate::state::AppState;

/// The pause after the system ran out of files or memory for a new connection. Other connections can end meanwhile.
const PAUSE: Duration = Duration::from_millis(200);

/// The number of spare connections above the limit. They only receive refusals and health checks.
const SPARE: usize = 32;

/// A listening socket and its connections.
pub(super) struct Listener<A> {
    socket: TcpListener,
    app: A,
    state: AppState,
    /// One permit for each allowed connection.
    permits: Arc<Semaphore>,
    spare_permits: Arc<Semaphore>,
    in_flight: InFlight,
    /// The phase, which all connections observe.
    phase: watch::Sender<Phase>,
}

/// The permit of a connection, for its lifetime.
struct ConnectionPermit {
    _permit: OwnedSemaphorePermit,
    kind: ConnectionKind,
}

impl<A: App> Listener<A> {
    pub(super) fn new(
        socket: TcpListener,
        app: A,
        state: AppState,
        limit: usize,
        in_flight: InFlight,
    ) -> Self {
        Self {
            socket,
            app,
            state,
            permits: Arc::new(Semaphore::new(limit)),
            spare_permits: Arc::new(Semaphore::new(SPARE)),
            in_flight,
            phase: watch::Sender::new(Phase::Open),
        }
    }

    /// Returns true if any connection is open.
    pub(super) fn is_in_use(&self) -> bool {
        self.phase.receiver_count() > 0
    }

    /// Accepts connections until `stop` resolves.
    pub(super) async fn accept_until(&self, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = stop => {}
            never = self.accept() => match never {},
        }
    }

    /// Accepts the connections that the system has already queued, then closes the socket. Returns the phase, which all
    /// connections observe.
    pub(super) async fn close(self) -> watch::Sender<Phase> {
        while let Some(permit) = self.regular_permit()
            && let Ok(Ok(taken)) = timeout(Duration::ZERO, self.socket.accept()).await
        {
            self.serve_connection(taken, permit);
        }
        self.phase
    }

    async fn accept(&self) -> Infallible {
        let mut is_failing = false;
        loop {
            // Without a permit, new connections wait in the system's queue.
            let permit = self.acquire().await;
            match self.socket.accept().await {
                Ok(taken) => {
                    is_failing = false;
                    self.serve_connection(taken, permit);
                }
                Err(error) if is_caused_by_peer(&error) => {}
                Err(error) => {
                    if !is_failing {
                        tracing::error!(%error, "cannot accept connections");
                    }
                    is_failing = true;
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Acquires a regular permit, or a spare one if no regular permit is free.
    async fn acquire(&self) -> ConnectionPermit {
        let (regular, spare) = (Arc::clone(&self.permits), Arc::clone(&self.spare_permits));
        tokio::select! {
            biased;
            Ok(permit) = regular.acquire_owned() => ConnectionPermit { _permit: permit, kind: ConnectionKind::Regular },
            Ok(permit) = spare.acquire_owned() => ConnectionPermit { _permit: permit, kind: ConnectionKind::Spare },
            // The semaphores are never closed.
            else => std::future::pending().await,
        }
    }

    fn regular_permit(&self) -> Option<ConnectionPermit> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().ok()?;
        Some(ConnectionPermit {
            _permit: permit,
            kind: ConnectionKind::Regular,
        })
    }

    fn serve_connection(
        &self,
        (stream, peer): (TcpStream, SocketAddr),
        mut permit: ConnectionPermit,
    ) {
        if permit.kind == ConnectionKind::Spare {
            // A regular permit may have become free.
            permit = self.regular_permit().unwrap_or(permit);
        }
        let (app, state) = (self.app.clone(), self.state.clone());
        let present: Option<Permit> = self.in_flight.try_acquire(usize::MAX);
        let phases = self.phase.subscribe();
        tokio::spawn(async move {
            serve_connection(stream, peer, app, state, phases, permit.kind).await;
            drop((permit, present));
        });
    }
}

/// Returns true if an error concerns only the connection being accepted.
fn is_caused_by_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}
