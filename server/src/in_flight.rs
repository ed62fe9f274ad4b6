//! Limits on requests, connections and bytes in progress.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The limits of the server.
pub(crate) struct InFlightLimits {
    /// Connections to the port of the API.
    pub(crate) connections: InFlight,
    /// Requests without a response yet.
    pub(crate) requests: InFlight,
    /// Bytes of request bodies from callers who are not authenticated yet, and of the pages that answer them.
    pub(crate) unauthenticated: Budget,
    /// Bytes of request heads of which the rest has not arrived yet.
    pub(crate) incomplete_heads: Budget,
    /// The same for bodies.
    pub(crate) incomplete_bodies: Budget,
    /// Pages that show live evaluations.
    pub(crate) live_evaluations: InFlight,
}

impl Default for InFlightLimits {
    fn default() -> Self {
        Self {
            connections: InFlight::default(),
            requests: InFlight::default(),
            unauthenticated: Budget::new(UNAUTHENTICATED_BYTES),
            incomplete_heads: Budget::new(INCOMPLETE_HEAD_BYTES),
            incomplete_bodies: Budget::new(INCOMPLETE_BODY_BYTES),
            live_evaluations: InFlight::default(),
        }
    }
}

/// The number of permits in use.
#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<AtomicUsize>);

/// One unit of an [`InFlight`] count. Dropping it releases the unit.
pub(crate) struct Permit(Arc<AtomicUsize>);

/// A period during which one permit does not count. Dropping it ends the period.
pub(crate) struct SuspendedPermit(Arc<AtomicUsize>);

impl InFlight {
    /// Acquires a permit. Returns none if `limit` permits are in use.
    pub(crate) fn try_acquire(&self, limit: usize) -> Option<Permit> {
        let permit = Permit(Arc::clone(&self.0));
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        // Above the limit, dropping the permit restores the count.
        (before < limit).then_some(permit)
    }

    /// Excludes one permit from the count until the result is dropped.
    pub(crate) fn suspend(&self) -> SuspendedPermit {
        self.0.fetch_sub(1, Ordering::Relaxed);
        SuspendedPermit(Arc::clone(&self.0))
    }

    /// Returns the number of permits in use.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for SuspendedPermit {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The limit on the bytes that callers who are not authenticated yet use together.
const UNAUTHENTICATED_BYTES: usize = 32 * 1024 * 1024;

/// The limit on the bytes of all heads of which the rest has not arrived yet.
const INCOMPLETE_HEAD_BYTES: usize = 64 * 1024 * 1024;

/// The limit on the bytes of all bodies of which the rest has not arrived yet.
const INCOMPLETE_BODY_BYTES: usize = 128 * 1024 * 1024;

/// The maximum size of a head or body that can use the whole limit. Larger ones share half of it, so that they cannot
/// displace sign-ins and most evaluations.
const SMALL: usize = 8 * 1024;

/// A limit on bytes in memory.
#[derive(Clone)]
pub(crate) struct Budget {
    bytes: Arc<AtomicUsize>,
    limit: usize,
}

/// The bytes of one head or body. Dropping it releases them.
pub(crate) struct Held {
    budget: Budget,
    bytes: usize,
}

/// A head or body that arrives. Its bytes are only held while the server waits for the rest, so most never are.
pub(crate) struct Arriving {
    held: Held,
    /// The number of bytes that have arrived and are not held.
    arrived: usize,
}

impl Budget {
    /// Creates a limit of `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: Arc::default(),
            limit,
        }
    }

    /// Starts counting a body, at zero bytes.
    pub(crate) fn hold(&self) -> Held {
        Held {
            budget: self.clone(),
            bytes: 0,
        }
    }
}

impl Held {
    /// Returns true if no bytes are held.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    fn release(&mut self) {
        let bytes = mem::take(&mut self.bytes);
        if bytes > 0 {
            self.budget.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Adds bytes. Returns false if that exceeds the limit.
    pub(crate) fn grow(&mut self, more: usize) -> bool {
        let bytes = self.bytes.saturating_add(more);
        let limit = match bytes {
            ..=SMALL => self.budget.limit,
            _ => self.budget.limit / 2,
        };
        let add = |all: usize| all.checked_add(more).filter(|all| *all <= limit);
        let all = &self.budget.bytes;
        let grown = all.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        if grown.is_ok() {
            self.bytes = bytes;
        }
        grown.is_ok()
    }
}

impl Arriving {
    /// Begins with the limit that applies while the rest has not arrived.
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            held: budget.hold(),
            arrived: 0,
        }
    }

    /// Adds bytes that have arrived.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.arrived = self.arrived.saturating_add(bytes);
    }

    /// Holds what has arrived. Returns false if that exceeds the limit.
    pub(crate) fn wait(&mut self) -> bool {
        self.arrived == 0 || self.held.grow(mem::take(&mut self.arrived))
    }

    /// Begins again, with another head or body.
    pub(crate) fn restart(&mut self) {
        self.held.release();
        self.arrived = 0;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::{Arriving, Budget, InFlight, SMALL, UNAUTHENTICATED_BYTES};

    #[test]
    fn large_bodies_leave_half_of_the_budget_to_small_ones() {
        let budget = Budget::new(UNAUTHENTICATED_BYTES);
        let mut large = budget.hold();
        assert!(large.grow(UNAUTHENTICATED_BYTES / 2) && !large.grow(1));
        let mut small = Vec::new();
        while let mut held = budget.hold()
            && held.grow(SMALL)
        {
            assert!(!held.grow(1));
            small.push(held);
        }
        assert_eq!(small.len() * SMALL, UNAUTHENTICATED_BYTES / 2);
        drop(large);
        assert!(budget.hold().grow(SMALL));
        assert!(!budget.hold().grow(SMALL + 1));
        drop(small);
        assert!(budget.hold().grow(SMALL + 1));
    }

    #[test]
    fn data_is_held_only_while_the_rest_is_missing() {
        let budget = Budget::new(100);
        let mut one = Arriving::new(&budget);
        one.add(60);
        let mut other = Arriving::new(&budget);
        other.add(60);
        assert!(one.wait() && one.wait() && !other.wait());
        one.restart();
        other.add(60);
        assert!(one.wait() && other.wait());
        one.add(60);
        assert!(!one.wait());
        drop(other);
        one.add(60);
        assert!(one.wait());
    }

    #[test]
    fn an_in_flight_limit_holds_and_frees_a_permit_that_is_dropped() {
        let in_flight = InFlight::default();
        let (first, second) = (in_flight.try_acquire(2), in_flight.try_acquire(2));
        assert!(first.is_some() && second.is_some() && in_flight.try_acquire(2).is_none());
        assert_eq!(in_flight.count(), 2);
        drop(first);
        assert!(in_flight.try_acquire(2).is_some());
        assert_eq!(in_flight.count(), 1);
        let suspended = in_flight.suspend();
        assert_eq!(in_flight.count(), 0);
        drop((second, suspended));
        assert_eq!(in_flight.count(), 0);
    }
}
