//! The clock and the source of randomness, which tests replace.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pennon_model::time::Timestamp;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};
use uuid::{Builder, Uuid};

/// A source of the time.
pub trait Clock: Send + Sync {
    /// Returns the current time, to the millisecond.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the machine's clock"
    )]
    fn now(&self) -> Timestamp {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let millis = since_epoch.map_or(0, |time| {
            i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
        });
        Timestamp::from_millis(millis)
    }
}

/// A generator of random bytes and identifiers.
pub struct Entropy(Mutex<Source>);

struct Source {
    random: StdRng,
    last_millis: i64,
    ids_in_millisecond: u16,
}

impl Entropy {
    /// Creates a generator that is seeded by the operating system.
    pub fn from_system() -> Result<Self, rand::rngs::SysError> {
        Ok(Self::new(StdRng::try_from_rng(&mut SysRng)?))
    }

    /// Creates a generator with a fixed seed, for tests that need repeatable IDs and keys.
    pub fn from_seed(seed: u64) -> Self {
        Self::new(StdRng::seed_from_u64(seed))
    }

    fn new(random: StdRng) -> Self {
        Self(Mutex::new(Source {
            random,
            last_millis: 0,
            ids_in_millisecond: 0,
        }))
    }

    /// Returns `N` unpredictable bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.lock().random.fill_bytes(&mut bytes);
        bytes
    }

    /// Returns a new UUID of version 7 (RFC 9562). Within one millisecond, the 12 bits after the time count up, so that
    /// IDs from this generator sort in the order of their creation.
    pub fn id(&self, now: Timestamp) -> Uuid {
        let mut bits = [0; 10];
        let mut source = self.0.lock();
        source.random.fill_bytes(&mut bits);
        source.ids_in_millisecond = if source.last_millis == now.millis() {
            source.ids_in_millisecond.wrapping_add(1)
        } else {
            0
        };
        source.last_millis = now.millis();
        if let Some(head) = bits.first_chunk_mut() {
            *head = source.ids_in_millisecond.to_be_bytes();
        }
        Builder::from_unix_timestamp_millis(u64::try_from(now.millis()).unwrap_or(0), &bits)
            .into_uuid()
    }
}

/// The time of the last confirmation of a fact.
pub(crate) struct Confirmed {
    start: Instant,
    /// Milliseconds from `start` to the last confirmation.
    last: AtomicU64,
}

impl Confirmed {
    pub(crate) fn now() -> Self {
        Self {
            start: Instant::now(),
            last: AtomicU64::new(0),
        }
    }

    pub(crate) fn again(&self) {
        self.again_at(Instant::now());
    }

    /// Confirms as of an earlier time.
    pub(crate) fn again_at(&self, instant: Instant) {
        let since_start = instant.saturating_duration_since(self.start);
        let millis = u64::try_from(since_start.as_millis()).unwrap_or(u64::MAX);
        self.last.store(millis, Ordering::Relaxed);
    }

    pub(crate) fn age(&self) -> Duration {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(last)
    }
}
