// Written from sdk-wasm/src/protocol/mod.rs by `PENNON_WRITE_PROTOCOL=1 cargo test --package pennon-sdk-wasm`.

/** An event without data, or with the number of a request. */
export enum EventKind {
  /** `refresh()` was called. */
  Refresh = 0,
  /** A request failed without a response. */
  Unreachable = 1,
  /** The stream sent data. */
  StreamAlive = 2,
  /** The timer fired. */
  Timer = 3,
  /** `shutdown()` was called. */
  Shutdown = 4,
  /** `setContext()` was called. */
  ContextChanged = 5,
}

/** The reaction of a client whose first configuration could not be fetched. */
export enum RetryKind {
  /** `initialize()` fails, without further attempts. */
  None = 0,
  /** It fails, and further attempts continue in the background. */
  Background = 1,
  /** It waits for further attempts. */
  Forever = 2,
}

/** A command for the host. */
export enum CommandKind {
  /** No further command. */
  None = 0,
  /** Fetch the config document, or the evaluations for the host's context: see `number` and `etag`. */
  Fetch = 1,
  /** Abort the pending request. */
  Abort = 2,
  /** Set the timer: see `number`. */
  SetTimer = 3,
  /** Clear the timer. */
  ClearTimer = 4,
  /** Look for flags in the host's store and cache, and report `stored` or `restored`. */
  Restore = 5,
  /** Serve the flags of the newest response, and no others. */
  Apply = 6,
  /** Restart the TTLs of the cached flags, which have been confirmed. */
  Renew = 7,
  /** Stop serving some flags: see `flags`. */
  Expire = 8,
  /** Stop serving all flags. */
  Clear = 9,
  /** Open the stream of changes. */
  Listen = 10,
  /** Close the stream of changes. */
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
  /** Settle all pending calls of `initialize()`: see `failure` and `number`. */
  SettleInitialize = 18,
  /** Settle all pending calls of `refresh()`: see `failure` and `number`. */
  SettleRefresh = 19,
  /** Settle all pending calls of `setContext()`: see `failure` and `number`. */
  SettleSetContext = 20,
}

/** The cause of a failure. */
export enum FailureKind {
  /** No failure. */
  None = 0,
  /** The server could not be reached. */
  Unreachable = 1,
  /** The server did not respond in time. */
  TimedOut = 2,
  /** The server responded with an error status: see `number`. */
  Status = 3,
  /** The server responded with an invalid config document. */
  Malformed = 4,
  /** The engine trapped while it loaded the response. */
  Trapped = 5,
  /** The client has not been initialized. */
  NotInitialized = 6,
  /** The client has been shut down. */
  ShutDown = 7,
}

/** A client option, as a bit. */
export enum OptionBit {
  /** Serve flags past their TTL during an outage. */
  StaleIfError = 1,
  /** Listen for changes on a stream. */
  Streaming = 2,
  /** Report usage. */
  ReportUsage = 4,
}

/** A property of a flag, added to the number of its evaluation without a context. */
export enum FlagBit {
  /** The flag has rules or a rollout. */
  Targeted = 16,
  /** This version cannot evaluate the flag for a subject. */
  Unsupported = 32,
}

/** The type of the value in a slot. */
export enum SlotTag {
  /** No value. */
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

/** The maximum size of all texts of a context, in bytes. */
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

/** The built-in attributes, which are direct members of a context. */
// biome-ignore format: one word a line
export const BUILT_IN_ATTRIBUTES = [
  "userId",
  "tenantId",
  "email",
  "country",
] as const;
