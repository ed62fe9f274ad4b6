//! Rate limits of an environment.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicI64, Ordering};

use pennon_model::time::Timestamp;

const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1000 * MILLISECOND;

/// The limiter is further ahead than this only if the clock was set back. Without that, it is at most one second ahead
/// of the latest request, which may have read the clock a little later than the one that is being checked.
const CLOCK_SET_BACK: i64 = 2 * SECOND;

/// A limit on requests per second by the generic cell rate algorithm, whose state is one number. An idle client may
/// send the requests of one second at once, and then at the steady rate.
#[derive(Default)]
pub(crate) struct RateLimiter {
    /// The time at which all admitted requests would be finished at the steady rate, in nanoseconds.
    through: AtomicI64,
}

/// The rate limiters of an environment. They are separate, so that too many evaluation requests do not delay clients
/// that evaluate locally.
#[derive(Default)]
pub(crate) struct RateLimiters {
    /// The limit for evaluations by the server.
    pub(crate) evaluation: RateLimiter,
    /// The limit for fetches, streams and usage reports of clients that evaluate locally.
    pub(crate) configuration: RateLimiter,
}

impl RateLimiter {
    /// Returns true if one more request is within the limit. A refused request does not count.
    pub(crate) fn check(&self, now: Timestamp, per_second: NonZeroU32) -> bool {
        let now = now.millis().saturating_mul(MILLISECOND);
        let next = |through: i64| {
            let ahead = through.saturating_sub(now);
            let ahead = if ahead > CLOCK_SET_BACK {
                0
            } else {
                ahead.max(0)
            };
            let ahead = ahead.saturating_add(SECOND / i64::from(per_second.get()));
            (ahead <= SECOND).then(|| now.saturating_add(ahead))
        };
        self.through
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: NonZeroU32 = NonZeroU32::new(3).unwrap();

    fn admitted(limiter: &RateLimiter, at: i64) -> usize {
        let now = Timestamp::from_millis(at);
        (0..100).filter(|_| limiter.check(now, THREE)).count()
    }

    #[test]
    fn a_second_worth_of_requests_may_come_at_once_and_then_the_rate_counts() {
        let (limiter, start) = (RateLimiter::default(), 1_800_000_000_000);
        assert_eq!(admitted(&limiter, start), 3);
        assert_eq!(admitted(&limiter, start + 333), 0);
        assert_eq!(admitted(&limiter, start + 334), 1);
        assert_eq!(admitted(&limiter, start + 1000), 2);
        assert_eq!(admitted(&limiter, start + 60_000), 3);
    }

    #[test]
    fn a_request_that_read_the_clock_a_little_earlier_does_not_reset_the_limit() {
        let (limiter, start) = (RateLimiter::default(), 1_800_000_000_000);
        assert_eq!(admitted(&limiter, start), 3);
        assert_eq!(admitted(&limiter, start + 334), 1);
        assert_eq!(admitted(&limiter, start + 333), 0);
        assert_eq!(admitted(&limiter, start - 500), 0);
    }

    #[test]
    fn a_clock_that_is_put_back_stops_nobody() {
        let (limiter, start) = (RateLimiter::default(), 1_800_000_000_000);
        assert_eq!(admitted(&limiter, start), 3);
        assert_eq!(admitted(&limiter, start - 3_600_000), 3);
    }
}
