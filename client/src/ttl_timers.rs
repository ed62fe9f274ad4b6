//! The expiry of flags.

use alloc::vec::Vec;

/// The TTLs of all flags in a config document. All start at the same time, because a fetch confirms all flags at once.
#[derive(Clone, Debug)]
pub struct TtlTimers {
    started_at: u64,
    /// The age of the flags at that time, in milliseconds.
    age: u64,
    /// The TTL of each flag in milliseconds, by its position in the config document.
    ttls: Vec<u64>,
    /// The minimum TTL in milliseconds, while the server has not responded.
    minimum: u64,
    /// TTLs up to this many milliseconds have been noticed as expired.
    noticed: u64,
    /// Flags with a TTL up to this many milliseconds have been expired.
    expired: u64,
}

impl TtlTimers {
    /// The timers of a client without flags.
    pub const NONE: Self = Self {
        started_at: 0,
        age: 0,
        ttls: Vec::new(),
        minimum: 0,
        noticed: 0,
        expired: 0,
    };

    /// Starts the TTL of each flag `age` milliseconds ago, but at most half of the shortest TTL ago: a client whose
    /// flags had already expired would send one request after the other to the cache that keeps them. A TTL of 0 has
    /// expired before.
    pub fn start(now: u64, age: u64, ttls: Vec<u64>) -> Self {
        let shortest = ttls.iter().min().copied().unwrap_or_default();
        Self {
            started_at: now,
            age: age.min(shortest / 2),
            ttls,
            ..Self::NONE
        }
    }

    /// Starts the TTLs of flags that are used for at least `minimum` milliseconds, until [`Self::end_minimum`].
    pub fn start_with_minimum(now: u64, minimum: u64, ttls: Vec<u64>) -> Self {
        Self {
            minimum,
            ..Self::start(now, 0, ttls)
        }
    }

    /// Lets each TTL end at its own time.
    pub fn end_minimum(&mut self) {
        self.minimum = 0;
    }

    /// Restarts all TTLs, like [`Self::start`]. Returns true if a flag had been expired.
    pub fn renew(&mut self, now: u64, age: u64) -> bool {
        let expired = self.expired > 0;
        *self = Self::start(now, age, core::mem::take(&mut self.ttls));
        expired
    }

    /// Returns the time at which the next unnoticed TTL expires.
    pub fn next_expiry(&self) -> Option<u64> {
        let unnoticed = self.effective_ttls().filter(|ttl| *ttl > self.noticed);
        let next = unnoticed.min()?;
        Some(
            self.started_at
                .saturating_add(next.saturating_sub(self.age)),
        )
    }

    /// Returns true if a TTL has expired since the last call.
    pub fn notice(&mut self, now: u64) -> bool {
        let due = self
            .next_expiry()
            .is_some_and(|expires_at| expires_at <= now);
        if due {
            self.noticed = self.elapsed(now);
        }
        due
    }

    /// Returns the flags whose TTL has expired since the last call, and marks them as expired.
    pub fn expire(&mut self, now: u64) -> Vec<u32> {
        let newly = self.expired.saturating_add(1)..=self.elapsed(now);
        let flags = (0_u32..).zip(self.effective_ttls());
        let flags: Vec<_> = flags
            .filter(|(_, ttl)| newly.contains(ttl))
            .map(|(flag, _)| flag)
            .collect();
        if !flags.is_empty() {
            self.expired = self.elapsed(now);
        }
        flags
    }

    fn effective_ttls(&self) -> impl Iterator<Item = u64> {
        self.ttls.iter().map(|ttl| self.minimum.max(*ttl))
    }

    fn elapsed(&self, now: u64) -> u64 {
        now.saturating_sub(self.started_at).saturating_add(self.age)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::TtlTimers;

    #[test]
    fn a_ttl_is_noticed_once_and_its_flags_expire_once() {
        let mut ttl_timers = TtlTimers::start(100, 0, vec![50, 20, 50]);
        assert_eq!(ttl_timers.next_expiry(), Some(120));
        assert!(!ttl_timers.notice(119));
        assert!(ttl_timers.notice(120));
        assert!(!ttl_timers.notice(120));
        assert_eq!(ttl_timers.expire(120), [1]);
        assert!(ttl_timers.expire(149).is_empty());
        assert_eq!(ttl_timers.next_expiry(), Some(150));
        assert_eq!(ttl_timers.expire(150), [0, 2]);
    }

    #[test]
    fn a_ttl_of_zero_has_expired_before() {
        let mut ttl_timers = TtlTimers::start(0, 0, vec![0, 20]);
        assert_eq!(ttl_timers.next_expiry(), Some(20));
        assert!(ttl_timers.notice(20));
        assert_eq!(ttl_timers.expire(20), [1]);
    }

    #[test]
    fn a_minimum_extends_shorter_ttls_until_it_ends() {
        let mut ttl_timers = TtlTimers::start_with_minimum(1_000, 100, vec![10, 200]);
        assert!(!ttl_timers.notice(1_050));
        assert!(ttl_timers.expire(1_050).is_empty());
        let mut ended = ttl_timers.clone();
        ended.end_minimum();
        assert_eq!(ended.expire(1_050), [0]);
        assert!(ttl_timers.notice(1_100));
        assert_eq!(ttl_timers.expire(1_100), [0]);
        assert_eq!(ttl_timers.next_expiry(), Some(1_200));
    }

    #[test]
    fn renewing_restarts_every_ttl() {
        let mut ttl_timers = TtlTimers::start(0, 0, vec![10]);
        assert!(!ttl_timers.renew(5, 0));
        assert_eq!(ttl_timers.next_expiry(), Some(15));
        assert_eq!(ttl_timers.expire(15), [0]);
        assert!(ttl_timers.renew(20, 0));
        assert_eq!(ttl_timers.next_expiry(), Some(30));
    }

    #[test]
    fn the_age_of_a_response_is_part_of_the_ttl_but_never_all_of_it() {
        let mut ttl_timers = TtlTimers::start(100, 7, vec![30, 20]);
        assert_eq!(ttl_timers.next_expiry(), Some(113));
        assert!(!ttl_timers.renew(200, 25));
        assert_eq!(ttl_timers.next_expiry(), Some(210));
    }

    #[test]
    fn a_ttl_beyond_the_range_of_the_clock_never_expires() {
        let mut ttl_timers = TtlTimers::start(10, 0, vec![u64::MAX]);
        assert!(!ttl_timers.notice(u64::MAX - 1));
        assert!(ttl_timers.expire(u64::MAX - 1).is_empty());
    }
}
