//! Backoff and random delays.

/// The maximum backoff, in milliseconds.
pub const MAX_BACKOFF: u64 = 30_000;

/// The delay after the first refusal, in milliseconds.
const REFUSAL_BACKOFF: u64 = 60_000;

/// The maximum delay after many refusals, in milliseconds.
const MAX_REFUSAL_BACKOFF: u64 = 10 * 60_000;

/// Returns the delay after the attempt `attempt` (from 0) has failed: `delay · 2^attempt`, limited to [`MAX_BACKOFF`]
/// and reduced at random by up to a half, so that clients that failed together do not retry together.
pub fn backoff(delay: u64, attempt: u32, random: u32) -> u64 {
    between_half_and_whole(doubled(delay, attempt, MAX_BACKOFF), random)
}

/// Returns the delay after a refusal that follows `before` earlier ones. A refused key rarely works a second later, but
/// may work some minutes later, if it was revoked by mistake.
pub fn refusal_backoff(before: u32, random: u32) -> u64 {
    between_half_and_whole(
        doubled(REFUSAL_BACKOFF, before, MAX_REFUSAL_BACKOFF),
        random,
    )
}

/// Returns a random time from 0 to `whole`, uniformly distributed.
pub fn spread(whole: u64, random: u32) -> u64 {
    // In two halves, because the product does not fit into 64 bits.
    let (high, low) = (whole >> 32, whole & u64::from(u32::MAX));
    high * u64::from(random) + (((low + 1) * u64::from(random)) >> 32)
}

/// Returns a random time from half of `whole` to `whole`, uniformly distributed.
pub fn between_half_and_whole(whole: u64, random: u32) -> u64 {
    let half = whole / 2;
    half + spread(whole - half, random)
}

/// Returns a random time from 0.5 to 1.5 times `whole`, uniformly distributed.
pub fn jitter(whole: u64, random: u32) -> u64 {
    (whole / 2).saturating_add(spread(whole, random))
}

fn doubled(delay: u64, times: u32, max: u64) -> u64 {
    1_u64
        .checked_shl(times)
        .map_or(max, |factor| delay.saturating_mul(factor))
        .min(max)
}

#[cfg(test)]
mod tests {
    use super::{MAX_BACKOFF, backoff, jitter, refusal_backoff, spread};

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
        assert_eq!([0, u32::MAX].map(|random| backoff(1, 0, random)), [0, 1]);
    }

    #[test]
    fn the_wait_never_exceeds_the_maximum() {
        for attempt in [5, 10, 63, 64, u32::MAX] {
            assert_eq!(backoff(1_000, attempt, u32::MAX), MAX_BACKOFF);
            assert_eq!(backoff(u64::MAX, attempt, 0), MAX_BACKOFF / 2);
        }
    }

    #[test]
    fn refusals_slow_down_from_a_minute_to_ten() {
        let waits = [0, 1, 2, 3, 4, 99].map(|before| refusal_backoff(before, u32::MAX) / 60_000);
        assert_eq!(waits, [1, 2, 4, 8, 10, 10]);
        assert_eq!(refusal_backoff(0, 0), 30_000);
    }

    #[test]
    fn jitter_is_from_half_the_time_to_one_and_a_half() {
        let times = [0, 1 << 31, u32::MAX].map(|random| jitter(30_000, random));
        assert_eq!(times, [15_000, 30_000, 45_000]);
        assert_eq!(jitter(u64::MAX, u32::MAX), u64::MAX);
    }

    #[test]
    fn a_spread_reaches_from_nothing_to_the_whole() {
        let times = [0, 1 << 31, u32::MAX].map(|random| spread(30_000, random));
        assert_eq!(times, [0, 15_000, 30_000]);
        assert!(spread(u64::MAX, u32::MAX) > u64::MAX - (1 << 33));
        assert_eq!(spread(u64::MAX, 0), 0);
    }
}
