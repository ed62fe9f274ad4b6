/** The machine-readable cause of a {@link FeatureFlagsError}. */
export type ErrorCode =
  /** The flag does not exist, or its TTL has expired and the server could not confirm it. */
  | "FLAG_NOT_FOUND"
  /** The flag uses something that this version of the package does not support, such as a newer operator. */
  | "FLAG_UNSUPPORTED"
  /** `initialize()` has not completed, or the client has been shut down. */
  | "NOT_INITIALIZED"
  /** An option of the constructor or of `initialize()` is invalid; the message names the valid values. */
  | "INVALID_OPTIONS"
  /** Neither the server nor a store or cache had flags for `initialize()`; see `cause`. */
  | "INITIALIZATION_FAILED"
  /** `refresh()` or `setContext()` failed after all retries; see `cause`. */
  | "REFRESH_FAILED"
  /**
   * `evaluateRemote()` failed; see `cause`. With `mode: "remote"`, also: a read has a context other than that of the
   * client, or `explain()` was called.
   */
  | "EVALUATION_FAILED"
  /** The engine failed. Only the event `engine:error` has this error; see `cause`. */
  | "ENGINE_FAILED";

/** The only error that this package throws. */
export class FeatureFlagsError extends Error {
  /** The name of the class, which survives minification. */
  static override readonly name: string = "FeatureFlagsError";
  override readonly name = "FeatureFlagsError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Returns an `INVALID_OPTIONS` error. @internal */
export function invalidOptions(message: string): FeatureFlagsError {
  return new FeatureFlagsError("INVALID_OPTIONS", message);
}
