//! The numbers and names that Rust and TypeScript share.
//!
//! The test of [`typescript`] generates `npm/core/src/engine/protocol.ts` from here, and fails if the two differ.

#![expect(
    clippy::float_cmp,
    reason = "a narrower attribute does not cover the code that wasm_bindgen generates for an enum"
)]

use pennon_client::{Call, Command, Failure, Lifecycle, Retry};
use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(test)]
mod typescript;

/// Declares an enum whose variants cross the wasm boundary as numbers, with its declaration for `protocol.ts`.
macro_rules! numbers {
    (
        $(#[doc = $doc:literal])+
        $(#[$attribute:ident])?
        $visibility:vis enum $name:ident {
            $($(#[doc = $variant_doc:literal])+ $variant:ident = $number:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        $(#[$attribute])?
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[doc = $variant_doc])+ $variant = $number,)+
        }

        #[cfg(test)]
        impl $name {
            const DECLARATION: typescript::Enumeration = typescript::Enumeration {
                name: stringify!($name),
                doc: concat!($($doc),+),
                members: &[$((stringify!($variant), $number, concat!($($variant_doc),+)),)+],
            };
        }
    };
}

numbers! {
    /// An event without data, or with the number of a request.
    #[wasm_bindgen]
    pub enum EventKind {
        /// `refresh()` was called.
        Refresh = 0,
        /// A request failed without a response.
        Unreachable = 1,
        /// The stream sent data.
        StreamAlive = 2,
        /// The timer fired.
        Timer = 3,
        /// `shutdown()` was called.
        Shutdown = 4,
        /// `setContext()` was called.
        ContextChanged = 5,
    }
}

numbers! {
    /// The reaction of a client whose first configuration could not be fetched.
    #[wasm_bindgen]
    pub enum RetryKind {
        /// `initialize()` fails, without further attempts.
        None = 0,
        /// It fails, and further attempts continue in the background.
        Background = 1,
        /// It waits for further attempts.
        Forever = 2,
    }
}

numbers! {
    /// A command for the host.
    #[wasm_bindgen]
    pub enum CommandKind {
        /// No further command.
        None = 0,
        /// Fetch the config document, or the evaluations for the host's context: see `number` and `etag`.
        Fetch = 1,
        /// Abort the pending request.
        Abort = 2,
        /// Set the timer: see `number`.
        SetTimer = 3,
        /// Clear the timer.
        ClearTimer = 4,
        /// Look for flags in the host's store and cache, and report `stored` or `restored`.
        Restore = 5,
        /// Serve the flags of the newest response, and no others.
        Apply = 6,
        /// Restart the TTLs of the cached flags, which have been confirmed.
        Renew = 7,
        /// Stop serving some flags: see `flags`.
        Expire = 8,
        /// Stop serving all flags.
        Clear = 9,
        /// Open the stream of changes.
        Listen = 10,
        /// Close the stream of changes.
        Unlisten = 11,
        /// Report usage.
        Report = 12,
        /// Emit `ready`.
        EmitReady = 13,
        /// Emit `refresh:start`.
        EmitRefreshStart = 14,
        /// Emit `refresh:success`.
        EmitRefreshSuccess = 15,
        /// Emit `refresh:error`: see `failure` and `number`.
        EmitRefreshError = 16,
        /// Emit `shutdown`.
        EmitShutdown = 17,
        /// Settle all pending calls of `initialize()`: see `failure` and `number`.
        SettleInitialize = 18,
        /// Settle all pending calls of `refresh()`: see `failure` and `number`.
        SettleRefresh = 19,
        /// Settle all pending calls of `setContext()`: see `failure` and `number`.
        SettleSetContext = 20,
    }
}

numbers! {
    /// The cause of a failure.
    #[wasm_bindgen]
    pub enum FailureKind {
        /// No failure.
        None = 0,
        /// The server could not be reached.
        Unreachable = 1,
        /// The server did not respond in time.
        TimedOut = 2,
        /// The server responded with an error status: see `number`.
        Status = 3,
        /// The server responded with an invalid config document.
        Malformed = 4,
        /// The engine trapped while it loaded the response.
        Trapped = 5,
        /// The client has not been initialized.
        NotInitialized = 6,
        /// The client has been shut down.
        ShutDown = 7,
    }
}

numbers! {
    /// A client option, as a bit.
    pub(crate) enum OptionBit {
        /// Serve flags past their TTL during an outage.
        StaleIfError = 1,
        /// Listen for changes on a stream.
        Streaming = 2,
        /// Report usage.
        ReportUsage = 4,
    }
}

numbers! {
    /// A property of a flag, added to the number of its evaluation without a context.
    pub(crate) enum FlagBit {
        /// The flag has rules or a rollout.
        Targeted = 16,
        /// This version cannot evaluate the flag for a subject.
        Unsupported = 32,
    }
}

numbers! {
    /// The type of the value in a slot.
    pub(crate) enum SlotTag {
        /// No value.
        Absent = 0,
        /// The boolean `false`.
        False = 1,
        /// The boolean `true`.
        True = 2,
        /// A number.
        Number = 3,
        /// A string: this plus its length in bytes.
        String = 4,
    }
}

impl From<&Command> for CommandKind {
    fn from(command: &Command) -> Self {
        match command {
            Command::Fetch { .. } => Self::Fetch,
            Command::Abort => Self::Abort,
            Command::SetTimer(_) => Self::SetTimer,
            Command::ClearTimer => Self::ClearTimer,
            Command::Restore => Self::Restore,
            Command::Apply => Self::Apply,
            Command::Renew => Self::Renew,
            Command::Expire(_) => Self::Expire,
            Command::Clear => Self::Clear,
            Command::Listen => Self::Listen,
            Command::Unlisten => Self::Unlisten,
            Command::Report => Self::Report,
            Command::Emit(Lifecycle::Ready) => Self::EmitReady,
            Command::Emit(Lifecycle::RefreshStart) => Self::EmitRefreshStart,
            Command::Emit(Lifecycle::RefreshSuccess) => Self::EmitRefreshSuccess,
            Command::Emit(Lifecycle::RefreshError(_)) => Self::EmitRefreshError,
            Command::Emit(Lifecycle::Shutdown) => Self::EmitShutdown,
            Command::Settle(Call::Initialize, _) => Self::SettleInitialize,
            Command::Settle(Call::Refresh, _) => Self::SettleRefresh,
            Command::Settle(Call::SetContext, _) => Self::SettleSetContext,
        }
    }
}

impl From<Failure> for FailureKind {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unreachable => Self::Unreachable,
            Failure::TimedOut => Self::TimedOut,
            Failure::Status(_) => Self::Status,
            Failure::Malformed => Self::Malformed,
            Failure::Trapped => Self::Trapped,
            Failure::NotInitialized => Self::NotInitialized,
            Failure::ShutDown => Self::ShutDown,
        }
    }
}

impl From<RetryKind> for Retry {
    fn from(retry: RetryKind) -> Self {
        match retry {
            RetryKind::None => Self::None,
            RetryKind::Background => Self::Background,
            RetryKind::Forever => Self::Forever,
        }
    }
}
