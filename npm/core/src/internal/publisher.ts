import type { EventEmitter, LifecycleEvent, LifecycleEventType, Listener } from "../events.js";
import type { Logger } from "../logger.js";

interface Registered {
  readonly type: LifecycleEventType;
  readonly listener: Listener;
  /** Whether it is called at the first event only. */
  readonly isOnce: boolean;
}

/** Tells everybody who wants to know. What one of them throws is logged, and keeps no other from hearing. */
export class Publisher {
  readonly #emitter: EventEmitter | undefined;
  readonly #logger: Logger;
  readonly #registered = new Set<Registered>();
  readonly #subscribers = new Set<{ readonly listener: () => void }>();

  constructor(emitter: EventEmitter | undefined, logger: Logger) {
    this.#emitter = emitter;
    this.#logger = logger;
  }

  on<T extends LifecycleEventType>(type: T, listener: Listener<T>, isOnce: boolean): void {
    // Whoever listens to one type gets no other.
    this.#registered.add({ type, listener: listener as Listener, isOnce });
  }

  off<T extends LifecycleEventType>(type: T, listener: Listener<T>): void {
    for (const registered of this.#registered) {
      if (registered.type === type && registered.listener === listener) {
        this.#registered.delete(registered);
      }
    }
  }

  subscribe(listener: () => void): () => void {
    // One listener may subscribe twice.
    const subscriber = { listener };
    this.#subscribers.add(subscriber);
    return () => {
      this.#subscribers.delete(subscriber);
    };
  }

  emit(event: LifecycleEvent): void {
    for (const registered of [...this.#registered]) {
      const { type, listener, isOnce } = registered;
      // A listener before it may have led to the same event, and that is the one at which it was called.
      if (type === event.type && (!isOnce || this.#registered.delete(registered))) {
        contain(() => listener(event), this.#listenerFailed);
      }
    }
    const emitter = this.#emitter;
    if (emitter !== undefined) {
      contain(
        () => emitter.emit(event.type, event),
        (error) => this.#logger.error("The event emitter failed", error),
      );
    }
  }

  /** Tells subscribers that reads may give something else now. */
  changed(): void {
    for (const { listener } of [...this.#subscribers]) {
      contain(listener, this.#listenerFailed);
    }
  }

  end(): void {
    this.#registered.clear();
    this.#subscribers.clear();
  }

  readonly #listenerFailed = (error: unknown): void => {
    this.#logger.error("A listener failed", error);
  };
}

/**
 * Calls into code that is not ours and goes on whatever it does: an error that it throws, or that a promise of its brings
 * later, goes to `onError`.
 */
export function contain<T>(call: () => T, onError: (error: unknown) => void): T | undefined {
  try {
    const result = call();
    catchRejection(result, onError);
    return result;
  } catch (error) {
    onError(error);
    return undefined;
  }
}

/** Hands the rejection of a promise to `onError`, also of a promise of another realm or of a library. */
export function catchRejection(result: unknown, onError: (error: unknown) => void): void {
  if (typeof (result as PromiseLike<unknown> | null | undefined)?.then === "function") {
    Promise.resolve(result).catch(onError);
  }
}
