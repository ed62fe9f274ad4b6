// Written from sdk-wasm/src/protocol/mod.rs by `PENNON_WRITE_PROTOCOL=1 cargo test --package pennon-sdk-wasm`.

/** An event without data, or with the number of a request. */
export enum EventKind {
  /** `refresh()` was called. */
  Refresh = 0,
  /** A request came to no answer. */
  Unreachable = 1,
  /** The stream said something. */
  StreamAlive = 2,
  /** The timer fired. */
  Timer = 3,
  /** `shutdown()` was called. */
  Shutdown = 4,
}

/** The reaction of a client whose first configuration could not be fetched. */
export enum RetryKind {
  /** `initialize()` fails, and nothing more is attempted. */
  None = 0,
  /** It fails, and further attempts are made without it. */
  Background = 1,
  /** It waits for further attempts. */
  Forever = 2,
}

/** A command for the host. */
export enum CommandKind {
  /** Nothing more. */
  None = 0,
  /** Fetch the configuration: see `number` and `etag`. */
  Fetch = 1,
  /** Give up the request under way. */
  Abort = 2,
  /** Set the timer: see `number`. */
  SetTimer = 3,
  /** Let no timer fire. */
  ClearTimer = 4,
  /** Look into the host's own cache, and report `restored`. */
  Restore = 5,
  /** Serve the engine's flags, and those only. */
  Apply = 6,
  /** Note that the cached flags have been confirmed. */
  Renew = 7,
  /** Serve some flags no longer: see `flags`. */
  Expire = 8,
  /** Serve nothing any longer. */
  Clear = 9,
  /** Open the stream of changes. */
  Listen = 10,
  /** Close it. */
  Unlisten = 11,
  /** Report usage. */
  Report = 12,
  /** Emit `ready`. */
  EmitReady = 13,
  /** Emit `refresh:start`. */
  EmitRefreshStart = 14,
  /** Emit `refresh:success`. */
  EmitRefreshSuccess = 15,
  /** Emit `refresh:error`: see `failure` and `number`. */
  EmitRefreshError = 16,
  /** Emit `shutdown`. */
  EmitShutdown = 17,
  /** Settle every waiting `initialize()`: see `failure` and `number`. */
  SettleInitialize = 18,
  /** Settle every waiting `refresh()`: see `failure` and `number`. */
  SettleRefresh = 19,
}

/** The cause of a failure. */
export enum FailureKind {
  /** It did not fail. */
  None = 0,
  /** The service could not be reached. */
  Unreachable = 1,
  /** It took too long to answer. */
  TimedOut = 2,
  /** It answered with a status that brings no configuration: see `number`. */
  Status = 3,
  /** It answered with something that is no configuration. */
  Malformed = 4,
  /** The engine failed over its answer. */
  Trapped = 5,
  /** The client has not been initialised. */
  NotInitialized = 6,
  /** The client has been shut down. */
  ShutDown = 7,
}

/** A switch of a client, as a bit. */
export enum OptionBit {
  /** Serve flags past their time to live during an outage. */
  StaleIfError = 1,
  /** Listen for changes. */
  Streaming = 2,
  /** Report usage. */
  ReportUsage = 4,
}

/** A property of a flag, added to the number of its evaluation ahead of time. */
export enum FlagBit {
  /** The flag has rules or a rollout. */
  Targeted = 16,
  /** This version cannot evaluate the flag for a subject. */
  Unsupported = 32,
}

/** The type of the value in a slot. */
export enum SlotTag {
  /** There is no value. */
  Absent = 0,
  /** The boolean `false`. */
  False = 1,
  /** The boolean `true`. */
  True = 2,
  /** A number. */
  Number = 3,
  /** A string: this plus its length in bytes. */
  String = 4,
}

/** The number of bytes of text that a subject may have. */
export const MAX_CONTEXT_BYTES = 65536;

/** The defaults of a client's options, in milliseconds and attempts. */
export const DEFAULTS = {
  pollIntervalMs: 30000,
  cacheTtlMs: 60000,
  retries: 3,
  retryDelayMs: 1000,
  timeoutMs: 3000,
} as const;

/** The reasons of evaluations, in the order of their numbers. */
// biome-ignore format: one word a line
export const REASONS = [
  "flag_enabled",
  "flag_disabled",
  "flag_archived",
  "targeting_rule",
  "rollout",
] as const;

/** The attributes that are members of a context itself. */
// biome-ignore format: one word a line
export const BUILT_IN_ATTRIBUTES = [
  "userId",
  "tenantId",
  "email",
  "country",
] as const;
