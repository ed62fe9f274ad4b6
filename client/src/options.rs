//! What the host may set.

use pennon_core::ttl::Ttl;

/// The settings of a client. Every time is in milliseconds; the host has checked the ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long after one request has ended the next poll begins; 0 turns polling off.
    pub poll_interval: u64,
    /// How long a flag may be served without being confirmed, unless its environment overrides it.
    pub ttl: u64,
    /// How many attempts may follow the first one.
    pub retries: u32,
    /// The wait before the first of them; each further one waits twice as long.
    pub retry_delay: u64,
    /// How long one attempt may take.
    pub timeout: u64,
    /// Whether flags are served past their time for as long as the service is out of reach.
    pub stale_if_error: bool,
    /// Whether changes are listened for.
    pub streaming: bool,
    /// Whether usage is reported.
    pub reports: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            poll_interval: 30_000,
            ttl: u64::from(Ttl::DEFAULT_SECONDS) * 1_000,
            retries: 3,
            retry_delay: 1_000,
            timeout: 3_000,
            stale_if_error: false,
            streaming: false,
            reports: false,
        }
    }
}
