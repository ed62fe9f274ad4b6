//! The names of events, commands and failures, as numbers on both sides of the border.

#![expect(
    clippy::float_cmp,
    reason = "in what wasm_bindgen makes of an enum, out of reach of a narrower attribute"
)]

use pennon_client::{Call, Command, Failure, Lifecycle, Retry};
use wasm_bindgen::prelude::wasm_bindgen;

/// What happened, where that says it all.
#[wasm_bindgen]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// `refresh()` was called.
    Refresh,
    /// A request came to no answer.
    Unreachable,
    /// The stream said something.
    StreamAlive,
    /// The timer fired.
    Timer,
    /// `shutdown()` was called.
    Shutdown,
}

/// What happens once the first configuration could not be fetched: see [`Retry`].
#[wasm_bindgen]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryKind {
    /// `initialize()` fails, and nothing more is attempted.
    None,
    /// It fails, and further attempts are made without it.
    Background,
    /// It waits for further attempts.
    Forever,
}

/// What the host has to do.
#[wasm_bindgen]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Nothing more.
    None,
    /// Fetch the configuration: see `number` and `etag`.
    Fetch,
    /// Give up the request under way.
    Abort,
    /// Set the timer: see `number`.
    SetTimer,
    /// Let no timer fire.
    ClearTimer,
    /// Look into the host's own cache, and report `restored`.
    Restore,
    /// Serve the engine's flags, and those only.
    Apply,
    /// What is cached has been confirmed.
    Renew,
    /// Serve some flags no longer: see `flags`.
    Expire,
    /// Serve nothing any longer.
    Clear,
    /// Open the stream of changes.
    Listen,
    /// Close it.
    Unlisten,
    /// Report usage.
    Report,
    /// Emit `ready`.
    EmitReady,
    /// Emit `refresh:start`.
    EmitRefreshStart,
    /// Emit `refresh:success`.
    EmitRefreshSuccess,
    /// Emit `refresh:error`: see `failure` and `number`.
    EmitRefreshError,
    /// Emit `shutdown`.
    EmitShutdown,
    /// Settle every waiting `initialize()`: see `failure` and `number`.
    SettleInitialize,
    /// Settle every waiting `refresh()`: see `failure` and `number`.
    SettleRefresh,
}

/// Why something failed.
#[wasm_bindgen]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It did not fail.
    None,
    /// The service could not be reached.
    Unreachable,
    /// It took too long to answer.
    TimedOut,
    /// It answered with a status that brings no configuration: see `number`.
    Status,
    /// It answered with something that is no configuration.
    Malformed,
    /// The engine failed over its answer.
    Trapped,
    /// The client has not been initialised.
    NotInitialized,
    /// The client has been shut down.
    ShutDown,
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
