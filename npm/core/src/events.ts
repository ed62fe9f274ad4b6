import type { FeatureFlagsError } from "./errors.js";

/** The data of each type of event, in addition to the type. */
export interface LifecycleDetails {
  /** `initialize()` has completed. */
  ready: unknown;
  /** A request for the config document starts, because of `refresh()` or on schedule. */
  "refresh:start": unknown;
  /** The request succeeded, with or without changes. */
  "refresh:success": unknown;
  /** The request and all retries have failed. */
  "refresh:error": { readonly error: FeatureFlagsError };
  /**
   * The served flags differ from before. Differences from the bootstrap are reported right after `ready`: `change`
   * never precedes it.
   */
  change: {
    /** The keys of all flags that are new, different or gone. */
    readonly flags: readonly string[];
  };
  /** The engine failed. Reads continue from memory, and the engine restarts. */
  "engine:error": { readonly error: FeatureFlagsError };
  /** `shutdown()` was called. It is the last event. */
  shutdown: unknown;
}

/** The name of a lifecycle event. */
export type LifecycleEventType = keyof LifecycleDetails;

/** A lifecycle event: its type, and its data. */
export type LifecycleEvent<T extends LifecycleEventType = LifecycleEventType> = {
  [Type in T]: { readonly type: Type } & LifecycleDetails[Type];
}[T];

export type Listener<T extends LifecycleEventType = LifecycleEventType> = (
  event: LifecycleEvent<T>,
) => void;

/** A receiver of lifecycle events. Node's `EventEmitter` is one. */
export interface EventEmitter {
  on(type: LifecycleEventType, listener: Listener): unknown;
  emit(type: LifecycleEventType, event: LifecycleEvent): unknown;
  removeAllListeners(): unknown;
}
