//! When to try again.

/// No wait between two attempts is longer than this, in milliseconds.
pub const CEILING: u64 = 30_000;

/// The wait after the attempt `attempt` (from 0) has failed: `delay · 2^attempt` up to the [`CEILING`], shortened at
/// random by up to a half, so that clients that failed together do not come back together.
pub fn backoff(delay: u64, attempt: u32, random: u32) -> u64 {
    let whole = 1_u64
        .checked_shl(attempt)
        .map_or(CEILING, |factor| delay.saturating_mul(factor))
        .min(CEILING);
    let half = whole / 2;
    let jitter = ((whole - half + 1) * u64::from(random)) >> 32;
    half + jitter
}

#[cfg(test)]
mod tests {
    use super::{CEILING, backoff};

    #[test]
    fn the_wait_doubles_with_every_attempt() {
        let waits = [0, 1, 2, 3].map(|attempt| backoff(1_000, attempt, u32::MAX));
        assert_eq!(waits, [1_000, 2_000, 4_000, 8_000]);
    }

    #[test]
    fn the_wait_lies_between_half_and_the_whole() {
        assert_eq!(backoff(1_000, 0, 0), 500);
        assert_eq!(backoff(1_000, 0, u32::MAX / 2), 750);
        assert_eq!(backoff(1_000, 0, u32::MAX), 1_000);
        assert_eq!(backoff(1, 0, 0), 0);
    }

    #[test]
    fn the_wait_never_exceeds_the_ceiling() {
        for attempt in [5, 10, 63, 64, u32::MAX] {
            assert_eq!(backoff(1_000, attempt, u32::MAX), CEILING);
            assert_eq!(backoff(u64::MAX, attempt, 0), CEILING / 2);
        }
    }
}
