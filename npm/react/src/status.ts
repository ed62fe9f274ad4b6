import type { FeatureFlagsError } from "@pennon/core";

/** The status of a client. Equal statuses are the same object. */
export interface FlagsStatus {
  /** True if `initialize()` has completed. With a `bootstrap`, flags can be read earlier. */
  readonly ready: boolean;
  /** The error of the last attempt to fetch the flags; undefined after a success. */
  readonly error: FeatureFlagsError | undefined;
}

export const LOADING: FlagsStatus = Object.freeze({ ready: false, error: undefined });
export const READY: FlagsStatus = Object.freeze({ ready: true, error: undefined });
