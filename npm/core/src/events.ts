import type { FeatureFlagsError } from "./errors.js";
import { contain } from "./internal/publisher.js";

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

interface Registered {
  readonly listener: Listener;
  /** Whether it is called at the first event only. */
  readonly isOnce: boolean;
}

/** The emitter that every client has. What one listener throws keeps no other from hearing. */
export class BuiltInEmitter implements EventEmitter {
  readonly #listeners = new Map<LifecycleEventType, readonly Registered[]>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  on<T extends LifecycleEventType>(type: T, listener: Listener<T>): void {
    this.#add(type, listener, false);
  }

  once<T extends LifecycleEventType>(type: T, listener: Listener<T>): void {
    this.#add(type, listener, true);
  }

  off<T extends LifecycleEventType>(type: T, listener: Listener<T>): void {
    this.#listeners.set(
      type,
      this.#of(type).filter((other) => other.listener !== listener),
    );
  }

  emit(type: LifecycleEventType, event: LifecycleEvent): void {
    for (const registered of this.#of(type)) {
      const { listener, isOnce } = registered;
      if (isOnce && !this.#remove(type, registered)) {
        // A listener before it has led to the same event.
        continue;
      }
      contain(() => listener(event), this.#onError);
    }
  }

  removeAllListeners(): void {
    this.#listeners.clear();
  }

  #add<T extends LifecycleEventType>(type: T, listener: Listener<T>, isOnce: boolean): void {
    // Whoever listens to one type gets no other.
    const registered = { listener: listener as Listener, isOnce };
    this.#listeners.set(type, [...this.#of(type), registered]);
  }

  /** Tells whether it was still there. */
  #remove(type: LifecycleEventType, registered: Registered): boolean {
    const before = this.#of(type);
    this.#listeners.set(
      type,
      before.filter((other) => other !== registered),
    );
    return before.includes(registered);
  }

  #of(type: LifecycleEventType): readonly Registered[] {
    return this.#listeners.get(type) ?? [];
  }
}
