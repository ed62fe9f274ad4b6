import {
  BuiltInEmitter,
  type EventEmitter,
  type LifecycleEvent,
  type LifecycleEventType,
  type Listener,
} from "../events.js";
import type { Logger } from "../logger.js";
import { contain } from "./contain.js";

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
