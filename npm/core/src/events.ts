import type { FeatureFlagsError } from "./errors.js";

/** What a listener is told beside the type, for each type of event. */
export interface LifecycleDetails {
  /** `initialize()` has completed. */
  ready: unknown;
  /** A request for the configuration begins, by `refresh()` or by itself. */
  "refresh:start": unknown;
  /** It brought a configuration, or word that nothing changed. */
  "refresh:success": unknown;
  /** It failed, and so did every retry. */
  "refresh:error": { readonly error: FeatureFlagsError };
  /** Other flags are served than before. Never before `ready`; flags that differ from the bootstrap are told right after it. */
  change: {
    /** The keys of all flags that are new, that differ in anything, or that are gone. */
    readonly flags: readonly string[];
  };
  /** The engine failed. Reads go on from what is in memory, and the engine is started anew. */
  "engine:error": { readonly error: FeatureFlagsError };
  /** `shutdown()` was called; no event follows. */
  shutdown: unknown;
}

/** What happens in the life of a client, by name. */
export type LifecycleEventType = keyof LifecycleDetails;

/** What a listener is told. */
export type LifecycleEvent<T extends LifecycleEventType = LifecycleEventType> = {
  [Type in T]: { readonly type: Type } & LifecycleDetails[Type];
}[T];

export type Listener<T extends LifecycleEventType = LifecycleEventType> = (
  event: LifecycleEvent<T>,
) => void;

/** Where a client sends its events. Node's own `EventEmitter` is one. */
export interface EventEmitter {
  on(type: LifecycleEventType, listener: Listener): unknown;
  emit(type: LifecycleEventType, event: LifecycleEvent): unknown;
  removeAllListeners(): unknown;
}
