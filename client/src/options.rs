//! The options of a client.

use pennon_core::ttl::Ttl;

/// The options of a client. All times are in milliseconds; the host has validated the ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The delay between the end of a request and the next poll; 0 disables polling.
    pub poll_interval: u64,
    /// The TTL of flags, unless their environment overrides it.
    pub ttl: u64,
    /// The maximum number of retries after the first attempt.
    pub retries: u32,
    /// The delay before the first retry, which doubles with each further one.
    pub retry_delay: u64,
    /// The timeout of one attempt.
    pub timeout: u64,
    /// True to serve flags past their TTL while the server cannot be reached.
    pub stale_if_error: bool,
    /// True to listen for changes on a stream.
    pub streaming: bool,
    /// True to report usage.
    pub report_usage: bool,
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
            report_usage: false,
        }
    }
}
