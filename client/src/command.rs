//! The commands of a client.

use alloc::vec::Vec;

/// A command for the host. Commands must be executed in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Fetch the config document, or the evaluations for the host's context, and report the response under this number.
    /// Send the [`etag`](crate::Machine::etag) of the current one as `If-None-Match`.
    Fetch {
        /// The number of the request, which is unique.
        request: u32,
        /// The number of failed attempts before this one.
        attempt: u32,
    },
    /// Abort the pending request, whose response would be ignored.
    Abort,
    /// Report [`Event::Timer`](crate::Event::Timer) in this many milliseconds. This replaces an earlier timer.
    SetTimer(u64),
    /// Clear the timer.
    ClearTimer,
    /// Look for a config document in the host's store, and report [`Event::Stored`](crate::Event::Stored). Without one,
    /// look for unexpired flags in the host's cache, and report [`Event::Restored`](crate::Event::Restored).
    Restore,
    /// Serve the flags of the newest config document, and no others.
    Apply,
    /// Restart the TTLs of all cached flags, because the server has confirmed them.
    Renew,
    /// Stop serving the flags at these positions in the newest config document.
    Expire(Vec<u32>),
    /// Stop serving all flags.
    Clear,
    /// Open the stream of changes, and report its events.
    Listen,
    /// Close the stream of changes, and ignore its further events.
    Unlisten,
    /// Report usage, unless all counts are 0.
    Report,
    /// Emit an event to the listeners.
    Emit(Lifecycle),
    /// Settle all pending calls of this kind.
    Settle(Call, Result<(), Failure>),
}

/// A call with a pending result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `initialize()`.
    Initialize,
    /// `refresh()`.
    Refresh,
    /// `setContext()`.
    SetContext,
}

/// An event for the client's listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// The first flags are available.
    Ready,
    /// A refresh starts, requested or scheduled.
    RefreshStart,
    /// The refresh returned a new config document, or confirmed the current one.
    RefreshSuccess,
    /// The refresh failed, including all retries.
    RefreshError(Failure),
    /// The client has shut down.
    Shutdown,
}

/// The cause of a failed request or call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server could not be reached.
    Unreachable,
    /// The server did not respond in time.
    TimedOut,
    /// The server responded with an error status.
    Status(u16),
    /// The server responded with an invalid config document.
    Malformed,
    /// The engine trapped while it loaded the response.
    Trapped,
    /// `initialize()` has not been called, or has failed.
    NotInitialized,
    /// The client has been shut down.
    ShutDown,
}

impl Failure {
    /// Returns true if a retry may succeed soon. An invalid response after a valid one comes from a proxy during an
    /// outage, and ends with it. An invalid first response means a wrong address.
    pub(crate) const fn is_transient(self, is_ready: bool) -> bool {
        match self {
            Self::Unreachable | Self::TimedOut | Self::Status(429 | 500..=599) => true,
            Self::Malformed => is_ready,
            _ => false,
        }
    }

    /// Returns true if the server is reachable and refused the request.
    pub(crate) const fn is_refusal(self) -> bool {
        matches!(self, Self::Status(400..=428 | 430..=499))
    }
}
