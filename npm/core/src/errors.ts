/** What went wrong, for programs. */
export type ErrorCode =
  /** There is no such flag, or its time to live is over and it could not be confirmed. */
  | "FLAG_NOT_FOUND"
  /** The flag has something that this version of the package does not know, such as a newer operator. */
  | "FLAG_UNSUPPORTED"
  /** `initialize()` has not completed, or the client has been shut down. */
  | "NOT_INITIALIZED"
  /** The constructor was given an option that it cannot work with. */
  | "INVALID_OPTIONS"
  /** `initialize()` got neither an answer of the service nor flags from a cache; see `cause`. */
  | "INITIALIZATION_FAILED"
  /** `refresh()` failed after all retries; see `cause`. */
  | "REFRESH_FAILED"
  /** `evaluateRemote()` got no answer; see `cause`. */
  | "EVALUATION_FAILED"
  /** The engine failed, which is told by the event `engine:error`; see `cause`. */
  | "ENGINE_FAILED";

/** The one error that this package throws. */
export class FeatureFlagsError extends Error {
  /** The name of the class, also where the code is minified. */
  static override readonly name: string = "FeatureFlagsError";
  override readonly name = "FeatureFlagsError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
