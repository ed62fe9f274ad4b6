//! What happens to a client.

use alloc::string::String;
use alloc::vec::Vec;

use pennon_core::ttl::Ttl;

/// Something that the host reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// `initialize()` was called.
    Initialize(Start),
    /// `initialize()` was called, and the host had a configuration to begin with, which it holds ready.
    Provided {
        /// The time to live of each of its flags.
        flags: Vec<Option<Ttl>>,
        /// Its tag, if that is known.
        etag: Option<String>,
    },
    /// This machine takes the place of one that trapped, of a client that was ready; the host holds the last good
    /// configuration ready.
    Resumed {
        /// The time to live of each of its flags.
        flags: Vec<Option<Ttl>>,
        /// Whether the other one was in the middle of a refresh.
        refreshing: bool,
    },
    /// `refresh()` was called.
    Refresh,
    /// The service answered the request of this number.
    Reply {
        /// The number that the request was given.
        request: u32,
        /// The answer.
        reply: Reply,
    },
    /// The request of this number came to no answer.
    Unreachable {
        /// The number that the request was given.
        request: u32,
    },
    /// The host has looked into its own cache, as [`Command::Restore`](crate::Command::Restore) asked, and serves what
    /// it found there: for each flag, the milliseconds that are left of its time. None, and the cache had nothing.
    Restored(Vec<u64>),
    /// Instead of [`Restored`](Self::Restored): the host serves a configuration that it stored when the service last
    /// confirmed it. It is served past its times to live until it is `max_age` old, or the service brings another.
    Stored {
        /// The time to live of each of its flags.
        flags: Vec<Option<Ttl>>,
        /// The milliseconds since the service confirmed it.
        age: u64,
        /// The maximum age, in milliseconds.
        max_age: u64,
    },
    /// The stream has told which configuration the service has.
    StreamTold {
        /// The tag of the configuration.
        etag: String,
        /// Within how many milliseconds all clients should fetch it, if the service has said so.
        spread: Option<u64>,
    },
    /// The stream has said anything at all.
    StreamAlive,
    /// The stream has ended, or could not be opened.
    StreamEnded {
        /// The HTTP status with which it was refused; 0 if there was none, or the stream had begun.
        status: u16,
        /// The `Retry-After` header, in milliseconds from now.
        retry_after: Option<u64>,
    },
    /// The timer has fired.
    Timer,
    /// `shutdown()` was called.
    Shutdown,
}

/// The limits of `initialize()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The milliseconds after which the call fails; none, and it takes as long as all its attempts.
    pub timeout: Option<u64>,
    /// The reaction to the failure of all attempts.
    pub retry: Retry,
}

/// The reaction of a client that could not fetch its first configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retry {
    /// The call fails, and nothing more is attempted.
    #[default]
    None,
    /// The call fails, and further attempts are made without it.
    Background,
    /// The call waits for further attempts, unless they would hardly help: a refused key, or an answer that is no
    /// configuration. Then it fails, and they are made without it.
    Forever,
}

impl Start {
    pub(crate) fn deadline(self, moment: Moment) -> Option<u64> {
        self.timeout
            .map(|timeout| moment.now.saturating_add(timeout))
    }
}

/// An answer of the service, as far as it decides anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The `ETag` header.
    pub etag: Option<String>,
    /// The `Retry-After` header, in milliseconds from now.
    pub retry_after: Option<u64>,
    /// The time to live of each flag in the body, or none where the body is no configuration.
    pub flags: Option<Vec<Option<Ttl>>>,
}

/// When an event happens, and a random number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds on a clock that never goes back.
    pub now: u64,
    /// Evenly distributed over all values.
    pub random: u32,
}
