//! How much is going on at one moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the service has its hands full of.
#[derive(Default)]
pub(crate) struct Load {
    /// Connections to the port of the API.
    pub(crate) connections: Crowd,
    /// Requests that have not been answered yet.
    pub(crate) requests: Crowd,
}

/// How many of something there are.
#[derive(Clone, Default)]
pub(crate) struct Crowd(Arc<AtomicUsize>);

/// One of a crowd, until it is dropped.
pub(crate) struct Member(Arc<AtomicUsize>);

/// The time for which a member of a crowd does not count, until it is dropped.
pub(crate) struct Absence(Arc<AtomicUsize>);

impl Crowd {
    /// One more; none if there are `most` already.
    pub(crate) fn enter(&self, most: usize) -> Option<Member> {
        let member = Member(Arc::clone(&self.0));
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        // Who is refused leaves again by being dropped.
        (before < most).then_some(member)
    }

    /// Lets one of the members not count for a while.
    pub(crate) fn step_out(&self) -> Absence {
        self.0.fetch_sub(1, Ordering::Relaxed);
        Absence(Arc::clone(&self.0))
    }

    /// How many there are now.
    pub(crate) fn size(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Absence {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Crowd;

    #[test]
    fn a_crowd_has_a_bound_and_makes_room_when_one_leaves() {
        let crowd = Crowd::default();
        let (first, second) = (crowd.enter(2), crowd.enter(2));
        assert!(first.is_some() && second.is_some() && crowd.enter(2).is_none());
        assert_eq!(crowd.size(), 2);
        drop(first);
        assert!(crowd.enter(2).is_some());
        assert_eq!(crowd.size(), 1);
        let absence = crowd.step_out();
        assert_eq!(crowd.size(), 0);
        drop((second, absence));
        assert_eq!(crowd.size(), 0);
    }
}
