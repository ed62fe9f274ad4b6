//! The queues for password hashing.
//!
//! A hash takes a core and 19 MiB, and anybody can cause one with an attempt to sign in. Each class of callers has its
//! own queue, so a flood of strangers delays neither returning users nor signed-in callers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::Error;

/// The capacity of a queue for sign-ins, including the sign-in that is being checked.
const SIGN_INS: usize = 32;

/// The time limit for a sign-in to wait in the queue.
const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(3);

/// The capacity of the queue for signed-in callers, including the one whose hash is being computed.
const AUTHENTICATED: usize = 256;

/// The time limit for a signed-in caller to wait in the queue.
const AUTHENTICATED_TIMEOUT: Duration = Duration::from_secs(10);

/// The class of a caller who needs a password hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Signs in to an account from a new network.
    New,
    /// Signs in to an account from a network from which somebody has signed in to it before.
    Returning,
    /// Is signed in, and changes or sets a password.
    Authenticated,
}

/// One queue for each class. Each queue computes one hash at a time.
pub(crate) struct Queues {
    new: Queue,
    returning: Queue,
    authenticated: Queue,
}

impl Queues {
    /// Enters the queue of a class; fails if the queue is full.
    pub(crate) fn enter(&self, class: Class) -> Result<QueuePermit, Error> {
        let queue = match class {
            Class::New => &self.new,
            Class::Returning => &self.returning,
            Class::Authenticated => &self.authenticated,
        };
        queue.enter()
    }
}

impl Default for Queues {
    fn default() -> Self {
        Self {
            new: Queue::new(SIGN_INS, SIGN_IN_TIMEOUT),
            returning: Queue::new(SIGN_INS, SIGN_IN_TIMEOUT),
            authenticated: Queue::new(AUTHENTICATED, AUTHENTICATED_TIMEOUT),
        }
    }
}

struct Queue {
    permits: Arc<Semaphore>,
    turn: Arc<Semaphore>,
    timeout: Duration,
}

/// A permit to wait in a queue.
pub(crate) struct QueuePermit {
    permit: OwnedSemaphorePermit,
    turn: Arc<Semaphore>,
    timeout: Duration,
}

/// The right to compute a hash now.
pub(crate) struct HashPermit {
    _permit: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

impl Queue {
    fn new(permits: usize, timeout: Duration) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(permits)),
            turn: Arc::new(Semaphore::new(1)),
            timeout,
        }
    }

    fn enter(&self) -> Result<QueuePermit, Error> {
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        Ok(QueuePermit {
            permit: permit.map_err(|_| Error::Overloaded)?,
            turn: Arc::clone(&self.turn),
            timeout: self.timeout,
        })
    }
}

impl QueuePermit {
    /// Waits for the callers ahead in the queue; fails if this exceeds the queue's timeout.
    pub(crate) async fn turn(self) -> Result<HashPermit, Error> {
        match timeout(self.timeout, self.turn.acquire_owned()).await {
            Ok(Ok(turn)) => Ok(HashPermit {
                _permit: self.permit,
                _turn: turn,
            }),
            _ => Err(Error::Overloaded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_refuses_at_once_and_a_slow_one_after_its_timeout() {
        let queues = Queues::default();
        let first = queues.enter(Class::New).unwrap().turn().await.unwrap();
        let mut waiting: Vec<_> = (1..SIGN_INS)
            .map(|_| queues.enter(Class::New).unwrap())
            .collect();
        assert!(matches!(queues.enter(Class::New), Err(Error::Overloaded)));
        let late = waiting.remove(0).turn().await;
        assert!(matches!(late, Err(Error::Overloaded)));
        // A caller that stops waiting leaves the queue.
        drop(queues.enter(Class::New).unwrap());
        drop(first);
        waiting.remove(0).turn().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_one_class_leaves_the_others_their_turn() {
        let queues = Queues::default();
        let _first = queues.enter(Class::New).unwrap().turn().await.unwrap();
        let _waiting: Vec<_> = std::iter::from_fn(|| queues.enter(Class::New).ok()).collect();
        for class in [Class::Returning, Class::Authenticated] {
            queues.enter(class).unwrap().turn().await.unwrap();
        }
    }
}
