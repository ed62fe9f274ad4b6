//! Taking connections, up to a bound.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::App;
use super::connection::{Phase, converse};
use crate::load::{Crowd, Member};
use crate::state::Service;

/// How long to wait when the system has no file or memory for another connection. Others end meanwhile.
const PAUSE: Duration = Duration::from_millis(200);

/// How many connections there may be beyond the bound: on them nobody gets more than to be told so at once, and to hear
/// how the service is.
const SPARE: usize = 32;

/// A port with the connections that came by it.
pub(super) struct Door<A> {
    listener: TcpListener,
    app: A,
    service: Service,
    /// One for each connection that there may be.
    places: Arc<Semaphore>,
    spare_places: Arc<Semaphore>,
    crowd: Crowd,
    /// What all connections listen to.
    phase: watch::Sender<Phase>,
}

/// What a connection takes up for as long as it lasts.
struct Place {
    _permit: OwnedSemaphorePermit,
    is_spare: bool,
}

impl<A: App> Door<A> {
    pub(super) fn new(
        listener: TcpListener,
        app: A,
        service: Service,
        most: usize,
        crowd: Crowd,
    ) -> Self {
        Self {
            listener,
            app,
            service,
            places: Arc::new(Semaphore::new(most)),
            spare_places: Arc::new(Semaphore::new(SPARE)),
            crowd,
            phase: watch::Sender::new(Phase::Open),
        }
    }

    /// Whether there is any connection.
    pub(super) fn is_in_use(&self) -> bool {
        self.phase.receiver_count() > 0
    }

    /// Takes connections until something happens.
    pub(super) async fn accept_until(&self, told: impl Future<Output = ()>) {
        tokio::select! {
            () = told => {}
            never = self.accept() => match never {},
        }
    }

    /// Takes no connection any more, save those that the system has taken already, and answers what all of them listen
    /// to.
    pub(super) async fn close(self) -> watch::Sender<Phase> {
        while let Some(place) = self.ordinary_place()
            && let Ok(Ok(taken)) = timeout(Duration::ZERO, self.listener.accept()).await
        {
            self.converse(taken, place);
        }
        self.phase
    }

    async fn accept(&self) -> Infallible {
        let mut is_failing = false;
        loop {
            // While there is no place at all, new connections wait with the system.
            let place = self.place().await;
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

    /// An ordinary place or, while there is none, a spare one.
    async fn place(&self) -> Place {
        let (ordinary, spare) = (Arc::clone(&self.places), Arc::clone(&self.spare_places));
        tokio::select! {
            biased;
            Ok(permit) = ordinary.acquire_owned() => Place { _permit: permit, is_spare: false },
            Ok(permit) = spare.acquire_owned() => Place { _permit: permit, is_spare: true },
            // Nobody closes the semaphores.
            else => std::future::pending().await,
        }
    }

    fn ordinary_place(&self) -> Option<Place> {
        let permit = Arc::clone(&self.places).try_acquire_owned().ok()?;
        Some(Place {
            _permit: permit,
            is_spare: false,
        })
    }

    fn converse(&self, (stream, peer): (TcpStream, SocketAddr), mut place: Place) {
        if place.is_spare {
            // There may be room by now.
            place = self.ordinary_place().unwrap_or(place);
        }
        let (app, service) = (self.app.clone(), self.service.clone());
        let present: Option<Member> = self.crowd.enter(usize::MAX);
        let phases = self.phase.subscribe();
        tokio::spawn(async move {
            converse(stream, peer, app, service, phases, place.is_spare).await;
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
