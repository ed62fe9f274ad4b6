import type { EventEmitter, LifecycleEvent, LifecycleEventType, Listener } from "../events.js";
import type { Logger } from "../logger.js";
import { callSafely } from "./call-safely.js";

interface Registered {
  readonly type: LifecycleEventType;
  readonly listener: Listener;
  /** True if the listener is called for the first event only. */
  readonly isOnce: boolean;
}

/** Notifies listeners and subscribers. An error that one of them throws is logged, and does not affect the others. */
export class Publisher {
  readonly #emitter: EventEmitter | undefined;
  readonly #logger: Logger;
  readonly #registered = new Set<Registered>();
  readonly #subscribers = new Set<{ readonly listener: () => void }>();
  #hasEnded = false;

  constructor(emitter: EventEmitter | undefined, logger: Logger) {
    this.#emitter = emitter;
    this.#logger = logger;
  }

  on<T extends LifecycleEventType>(type: T, listener: Listener<T>, isOnce: boolean): void {
    // A listener of one type receives events of that type only, so the cast is safe.
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
      // An earlier listener may have removed this one, or shut the client down. It may also have caused an event of the
      // same type, for which a listener of one event was already called.
      if (type === event.type && this.#registered[isOnce ? "delete" : "has"](registered)) {
        callSafely(() => listener(event), this.#listenerFailed);
      }
    }
    const emitter = this.#emitter;
    if (emitter !== undefined && !this.#hasEnded) {
      callSafely(
        () => emitter.emit(event.type, event),
        (error) => this.#logger.error("The event emitter threw or rejected", error),
      );
    }
  }

  /** Notifies subscribers that the results of reads may have changed. */
  notifySubscribers(): void {
    for (const subscriber of [...this.#subscribers]) {
      // An earlier listener may have unsubscribed this one, or shut the client down.
      if (this.#subscribers.has(subscriber)) {
        callSafely(subscriber.listener, this.#listenerFailed);
      }
    }
  }

  end(): void {
    this.#hasEnded = true;
    this.#registered.clear();
    this.#subscribers.clear();
  }

  readonly #listenerFailed = (error: unknown): void => {
    this.#logger.error("A listener threw or rejected", error);
  };
}
