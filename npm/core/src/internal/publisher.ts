import {
  BuiltInEmitter,
  type EventEmitter,
  type LifecycleEvent,
  type LifecycleEventType,
  type Listener,
} from "../events.js";
import type { Logger } from "../logger.js";

/** Tells everybody who wants to know. What one of them throws is logged, and keeps no other from hearing. */
export class Publisher {
  readonly #emitter: EventEmitter | undefined;
  readonly #logger: Logger;
  readonly #builtIn: BuiltInEmitter;
  readonly #subscribers = new Set<{ readonly listener: () => void }>();

  constructor(emitter: EventEmitter | undefined, logger: Logger) {
    this.#emitter = emitter;
    this.#logger = logger;
    this.#builtIn = new BuiltInEmitter(this.#listenerFailed);
  }

  on<T extends LifecycleEventType>(type: T, listener: Listener<T>): void {
    this.#builtIn.on(type, listener);
  }

  once<T extends LifecycleEventType>(type: T, listener: Listener<T>): void {
    this.#builtIn.once(type, listener);
  }

  off<T extends LifecycleEventType>(type: T, listener: Listener<T>): void {
    this.#builtIn.off(type, listener);
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
    this.#builtIn.emit(event.type, event);
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
    this.#builtIn.removeAllListeners();
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
