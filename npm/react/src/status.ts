import type { FeatureFlagsError } from "@pennon/core";

/** How far a client has come. The same status is the same object. */
export interface FlagsStatus {
  /** Whether `initialize()` has completed. With a `bootstrap`, flags can be read before that. */
  readonly ready: boolean;
  /** Why the last attempt to fetch the flags failed; undefined again as soon as one succeeds. */
  readonly error: FeatureFlagsError | undefined;
}

export const LOADING: FlagsStatus = Object.freeze({ ready: false, error: undefined });
export const READY: FlagsStatus = Object.freeze({ ready: true, error: undefined });
