import type { FeatureFlagsError } from "./errors.js";
import { contain } from "./internal/contain.js";

/** What happens in the life of a client, by name. */
export type LifecycleEventType =
  | "ready"
  | "refresh:start"
  | "refresh:success"
  | "refresh:error"
  | "shutdown";

/** What a listener is told; an error comes along with `refresh:error`. */
export type LifecycleEvent<T extends LifecycleEventType = LifecycleEventType> =
  T extends "refresh:error"
    ? { readonly type: T; readonly error: FeatureFlagsError }
    : { readonly type: T };

export type Listener<T extends LifecycleEventType = LifecycleEventType> = (
  event: LifecycleEvent<T>,
) => void;

/** Where a client sends its events. Node's own `EventEmitter` is one. */
export interface EventEmitter {
  on(type: LifecycleEventType, listener: Listener): unknown;
  emit(type: LifecycleEventType, event: LifecycleEvent): unknown;
  removeAllListeners(): unknown;
}

/** The emitter of a client that was not given one. What one listener throws keeps no other from hearing. */
export class BuiltInEmitter implements EventEmitter {
  readonly #listeners = new Map<LifecycleEventType, Listener[]>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  on(type: LifecycleEventType, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  emit(type: LifecycleEventType, event: LifecycleEvent): void {
    for (const listener of this.#listeners.get(type) ?? []) {
      contain(() => listener(event), this.#onError);
    }
  }

  removeAllListeners(): void {
    this.#listeners.clear();
  }
}
