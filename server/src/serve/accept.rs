//! Taking connections, up to a bound.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::connection::converse;
use crate::load::{Crowd, Member};

/// How long to wait when the system has no file or memory for another connection. Others end meanwhile.
const PAUSE: Duration = Duration::from_millis(200);

/// A port with the connections that came by it.
pub(super) struct Door {
    listener: TcpListener,
    app: Router,
    /// One for each connection that there may be.
    places: Arc<Semaphore>,
    crowd: Crowd,
    connections: GracefulShutdown,
}

impl Door {
    pub(super) fn new(listener: TcpListener, app: Router, most: usize, crowd: Crowd) -> Self {
        Self {
            listener,
            app,
            places: Arc::new(Semaphore::new(most)),
            crowd,
            connections: GracefulShutdown::new(),
        }
    }

    /// Whether there is any connection.
    pub(super) fn is_in_use(&self) -> bool {
        self.connections.count() > 0
    }

    /// Takes connections until something happens.
    pub(super) async fn accept_until(&self, told: impl Future<Output = ()>) {
        tokio::select! {
            () = told => {}
            never = self.accept() => match never {},
        }
    }

    /// Takes no connection any more, save those that the system has taken already, and answers all that there are.
    pub(super) async fn close(self) -> GracefulShutdown {
        while let Ok(place) = Arc::clone(&self.places).try_acquire_owned()
            && let Ok(Ok(taken)) = timeout(Duration::ZERO, self.listener.accept()).await
        {
            self.converse(taken, place);
        }
        self.connections
    }

    async fn accept(&self) -> Infallible {
        let mut is_failing = false;
        loop {
            // While there is no place, new connections wait with the system.
            let Ok(place) = Arc::clone(&self.places).acquire_owned().await else {
                // Nobody closes the semaphore.
                std::future::pending().await
            };
            match self.listener.accept().await {
                Ok(taken) => {
                    is_failing = false;
                    self.converse(taken, place);
                }
                Err(error) if is_of_the_peer(&error) => {}
                Err(error) => {
                    if !is_failing {
                        tracing::error!(%error, "no connection can be taken");
                    }
                    is_failing = true;
                    sleep(PAUSE).await;
                }
            }
        }
    }

    fn converse(&self, (stream, peer): (TcpStream, SocketAddr), place: OwnedSemaphorePermit) {
        let app = self.app.clone();
        let present: Option<Member> = self.crowd.enter(usize::MAX);
        let watcher = self.connections.watcher();
        tokio::spawn(async move {
            converse(stream, peer, app, watcher).await;
            drop((place, present));
        });
    }
}

/// Whether an error is of the one connection that was about to be taken.
fn is_of_the_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}
