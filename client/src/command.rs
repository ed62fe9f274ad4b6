//! What a client has to do.

use alloc::vec::Vec;

/// Something for the host to do, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Ask the service for the configuration, with the [`etag`](crate::Machine::etag) of what there is as
    /// `If-None-Match`, and report the answer under this number.
    Fetch {
        /// The number of the request, never used twice.
        request: u32,
        /// 0 for a first attempt, then one more for each that follows a failed one.
        attempt: u32,
    },
    /// Give up the request under way; its answer would be ignored.
    Abort,
    /// Report [`Event::Timer`](crate::Event::Timer) in so many milliseconds, instead of any timer set before.
    SetTimer(u64),
    /// Let no timer fire.
    ClearTimer,
    /// Look for a configuration in the host's store, and report [`Event::Stored`](crate::Event::Stored), or else for unexpired
    /// flags in its cache, and report [`Event::Restored`](crate::Event::Restored).
    Restore,
    /// Serve the flags of the newest configuration, and those only.
    Apply,
    /// Everything cached has been confirmed: its time to live begins anew.
    Renew,
    /// Serve the flags with these positions in the newest configuration no longer.
    Expire(Vec<u32>),
    /// Serve nothing any longer.
    Clear,
    /// Open the stream of changes, and report what it says.
    Listen,
    /// Close the stream of changes; what it says is not wanted any longer.
    Unlisten,
    /// Report usage, if there is any.
    Report,
    /// Tell the listeners.
    Emit(Lifecycle),
    /// Settle every call of this kind that waits.
    Settle(Call, Result<(), Failure>),
}

/// A call that waits for its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `initialize()`.
    Initialize,
    /// `refresh()`.
    Refresh,
}

/// An event in the life of a client, for its listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// The first flags can be read.
    Ready,
    /// A request begins, asked for or by itself.
    RefreshStart,
    /// It brought a new configuration, or word that nothing changed.
    RefreshSuccess,
    /// It failed, and so did every further attempt.
    RefreshError(Failure),
    /// The client has ended.
    Shutdown,
}

/// Why a request or a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The service could not be reached.
    Unreachable,
    /// It took too long to answer.
    TimedOut,
    /// It answered with a status that brings no configuration.
    Status(u16),
    /// It answered with something that is no configuration.
    Malformed,
    /// The engine failed over its answer.
    Trapped,
    /// `initialize()` has not been called, or has failed.
    NotInitialized,
    /// The client has been shut down.
    ShutDown,
}

impl Failure {
    /// Returns true if the same request may succeed a moment later. Nonsense of a service that has answered well before comes
    /// from a proxy in an outage, and passes like one; as a first answer it comes from a wrong address.
    pub(crate) const fn is_passing(self, has_answered: bool) -> bool {
        match self {
            Self::Unreachable | Self::TimedOut | Self::Status(429 | 500..=599) => true,
            Self::Malformed => has_answered,
            _ => false,
        }
    }

    /// Whether the service itself turned the client away, rather than being out of reach.
    pub(crate) const fn is_refusal(self) -> bool {
        matches!(self, Self::Status(400..=428 | 430..=499))
    }
}
