//! The events that a client handles.

use alloc::string::String;
use alloc::vec::Vec;

use pennon_core::ttl::Ttl;

/// An event that the host reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// `initialize()` was called.
    Initialize(InitializeOptions),
    /// `initialize()` was called with a bootstrap config document, which the host has loaded.
    Bootstrap {
        /// The TTL of each of its flags.
        flags: Vec<Option<Ttl>>,
        /// Its tag, if known.
        etag: Option<String>,
    },
    /// This machine replaces one that trapped after its client was ready. The host has loaded the last valid config
    /// document.
    Resumed {
        /// The TTL of each of its flags.
        flags: Vec<Option<Ttl>>,
        /// True if the other machine had a refresh pending.
        refreshing: bool,
    },
    /// The host serves flags that do not come from this machine: those of a bootstrap, or of a machine that trapped.
    Served {
        /// The remaining milliseconds of each flag, 0 if it has expired.
        times: Vec<u64>,
        /// True if `initialize()` has completed. The machine then continues with a refresh.
        is_ready: bool,
    },
    /// `refresh()` was called.
    Refresh,
    /// `setContext()` was called: the host's next request asks for the evaluations for another context.
    ContextChanged,
    /// The server responded to the request with this number.
    Reply {
        /// The number of the request.
        request: u32,
        /// The response.
        reply: Reply,
    },
    /// The request with this number failed without a response.
    Unreachable {
        /// The number of the request.
        request: u32,
    },
    /// The host has executed [`Command::Restore`](crate::Command::Restore) and serves the flags from its cache.
    /// Contains the remaining milliseconds of each flag, 0 if it has expired; empty if the cache has no flags.
    Restored(Vec<u64>),
    /// Replaces [`Restored`](Self::Restored) if the host serves a config document from its store. The client uses that
    /// document past its TTLs, until it is `max_age` old or the server returns another one.
    Stored {
        /// The TTL of each of its flags.
        flags: Vec<Option<Ttl>>,
        /// The milliseconds since the server confirmed it.
        age: u64,
        /// The maximum age, in milliseconds.
        max_age: u64,
    },
    /// The stream announced the server's current config document. Evaluations have the tag of the config document from
    /// which they come, with a suffix: `W/"document.context"`.
    StreamAnnounced {
        /// The tag of the config document.
        etag: String,
        /// The period in milliseconds over which clients should spread their fetches, if the server has set one.
        spread: Option<u64>,
    },
    /// The stream sent any data.
    StreamAlive,
    /// The stream ended, or could not be opened.
    StreamEnded {
        /// The HTTP status of the refusal; 0 without a response, or if the stream had been open.
        status: u16,
        /// The `Retry-After` header, in milliseconds from now.
        retry_after: Option<u64>,
    },
    /// The timer has fired.
    Timer,
    /// `shutdown()` was called.
    Shutdown,
}

/// The options of `initialize()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InitializeOptions {
    /// The milliseconds after which the call fails; none to wait for all attempts.
    pub timeout: Option<u64>,
    /// The reaction to the failure of all attempts.
    pub retry: Retry,
}

/// The reaction of a client whose first fetch failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retry {
    /// The call fails, without further attempts.
    #[default]
    None,
    /// The call fails, and further attempts continue in the background.
    Background,
    /// The call waits for further attempts. If these are unlikely to help, such as after a refused key or an invalid
    /// first response, the call fails, and the attempts continue in the background.
    Forever,
}

impl InitializeOptions {
    pub(crate) fn deadline(self, moment: Moment) -> Option<u64> {
        self.timeout
            .map(|timeout| moment.now.saturating_add(timeout))
    }
}

/// The relevant parts of a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The `ETag` header.
    pub etag: Option<String>,
    /// The `Retry-After` header, in milliseconds from now.
    pub retry_after: Option<u64>,
    /// The time that a cache has kept the response, in milliseconds.
    pub age: u64,
    /// The TTL of each flag in the body; none if the body is neither a config document nor evaluations.
    pub flags: Option<Vec<Option<Ttl>>>,
}

/// The time of an event, and a random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time in milliseconds on a monotonic clock.
    pub now: u64,
    /// A random number, uniformly distributed over all values.
    pub random: u32,
}
