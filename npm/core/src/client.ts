/// <reference lib="esnext.disposable" preserve="true" />

import { FeatureFlagsError } from "./errors.js";
import type { Evaluation, EvaluationContext, Explanation, Reason } from "./evaluation.js";
import type { LifecycleEventType, Listener } from "./events.js";
import { Evaluations } from "./internal/evaluations.js";
import { FlagStore } from "./internal/flag-store.js";
import { Publisher } from "./internal/publisher.js";
import { BoundReader } from "./internal/reader.js";
import { ClientRuntime } from "./internal/runtime.js";
import {
  type FeatureFlagsClientOptions,
  type InitializeOptions,
  parseInitializeOptions,
  parseOptions,
  warnOfOptions,
} from "./options.js";
import type { FlagReader } from "./reader.js";
import type { Snapshot } from "./snapshot.js";

/**
 * Fetches the flags of one environment, keeps them fresh and answers from memory.
 *
 * ```ts
 * const client = new FeatureFlagsClient({ sdkKey: 'pnk_…' });
 * await client.initialize();
 * client.isEnabled('new_checkout');
 * client.evaluate('new_checkout', { userId: 'ada' }).enabled;
 * ```
 */
export class FeatureFlagsClient {
  /** The name of the class, also where the code is minified. */
  static readonly name: string = "FeatureFlagsClient";

  readonly #runtime: ClientRuntime;
  readonly #evaluations: Evaluations;
  readonly #publisher: Publisher;

  /** @throws {FeatureFlagsError} `INVALID_OPTIONS` */
  constructor(options: FeatureFlagsClientOptions) {
    const settings = parseOptions(options);
    const { logger } = settings;
    warnOfOptions(settings);
    this.#publisher = new Publisher(settings.eventEmitter, logger);
    this.#evaluations = new Evaluations(new FlagStore(settings), settings);
    this.#runtime = new ClientRuntime(settings, this.#evaluations, this.#publisher);
  }

  /**
   * Returns a client that serves the answers of a snapshot, and `fallbacks`, for good. It is ready at once and asks no
   * service: `initialize()` and `refresh()` have nothing to do. It loads no engine either, so a config document brings no
   * answers. For pages that show what a server has evaluated, and for tests.
   *
   * @throws {FeatureFlagsError} `INVALID_OPTIONS`
   */
  static fromSnapshot(
    bootstrap: FeatureFlagsClientOptions["bootstrap"],
    fallbacks?: FeatureFlagsClientOptions["fallbacks"],
  ): FeatureFlagsClient {
    const client = new FeatureFlagsClient({ sdkKey: "snapshot", bootstrap, fallbacks });
    client.#runtime.fix();
    return client;
  }

  /**
   * Fetches all flags, or takes those of `bootstrap`, and begins to poll. Await it before the first evaluation. Called
   * again meanwhile it returns the same promise.
   *
   * Once it has failed, the client goes on trying only with the option `retry`. Call it again to try at once.
   *
   * @throws {FeatureFlagsError} `INITIALIZATION_FAILED`, `INVALID_OPTIONS`
   */
  initialize(options: InitializeOptions = {}): Promise<void> {
    try {
      return this.#runtime.initialize(parseInitializeOptions(options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Reports usage now, and resolves when that is done, whether or not it has succeeded: for functions that are suspended
   * between two requests. Without `reportUsage` it does nothing.
   */
  flush(): Promise<void> {
    return this.#runtime.flush();
  }

  /**
   * Stops polling, gives up what is in flight, forgets all flags, and emits `shutdown` as the last event. All that happens
   * at once; the promise waits until usage has been reported, if it is to be.
   */
  shutdown(): Promise<void> {
    return this.#runtime.shutdown();
  }

  /** The same as `shutdown()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  /** Whether `initialize()` has completed. */
  isReady(): boolean {
    return this.#evaluations.isReady;
  }

  /**
   * Fetches now. Calls at the same time share one request.
   *
   * @throws {FeatureFlagsError} `REFRESH_FAILED`, `NOT_INITIALIZED`
   */
  refresh(): Promise<void> {
    return this.#runtime.refresh();
  }

  /**
   * Whether the flag is on for nobody in particular: rules on attributes never match, and a rollout falls through. The
   * context is accepted but does not change the result; for one subject's answer there is `evaluate`.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `NOT_INITIALIZED`
   */
  isEnabled<Custom extends object>(
    key: string,
    _context?: EvaluationContext<Custom> | null,
  ): boolean {
    return this.#evaluations.ahead(key).enabled;
  }

  /**
   * The reason for what `isEnabled` says; despite the name not a value.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `NOT_INITIALIZED`
   */
  getValue<Custom extends object>(
    key: string,
    _context?: EvaluationContext<Custom> | null,
  ): Reason {
    return this.#evaluations.ahead(key).reason;
  }

  /**
   * What the flag is for this subject, decided here and now by the same engine that the service runs.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `FLAG_UNSUPPORTED`, `NOT_INITIALIZED`
   */
  evaluate<Custom extends object>(
    key: string,
    context?: EvaluationContext<Custom> | null,
  ): Evaluation {
    return this.#evaluations.evaluate(key, context);
  }

  /** What `evaluate` would say, or undefined where it would throw. Of a flag that there is not, its default if it has one. */
  read<Custom extends object>(
    key: string,
    context?: EvaluationContext<Custom> | null,
  ): Evaluation | undefined {
    return this.#evaluations.read(key, context);
  }

  /**
   * How `evaluate` comes to its answer, step by step; what the service says at `/sdk/v1/explain`, but for the ids of rules.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `FLAG_UNSUPPORTED`, `NOT_INITIALIZED`
   */
  explain<Custom extends object>(
    key: string,
    context?: EvaluationContext<Custom> | null,
  ): Explanation {
    return this.#evaluations.explain(key, context);
  }

  /**
   * Whether the flag has rules or a rollout. If not, its answer is the same for every context. False for a flag that does
   * not exist.
   */
  isTargeted(key: string): boolean {
    return this.#evaluations.isTargeted(key);
  }

  /** What all flags are for this subject, by key. */
  evaluateAll<Custom extends object>(
    context?: EvaluationContext<Custom> | null,
  ): Readonly<Record<string, Evaluation>> {
    return this.#evaluations.readAll(context);
  }

  /**
   * What the flag is for this subject, decided by the service. It is asked once, without retries, and sees the context;
   * `initialize()` is not needed.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `EVALUATION_FAILED`, `NOT_INITIALIZED` after `shutdown()`
   */
  evaluateRemote<Custom extends object>(
    key: string,
    context?: EvaluationContext<Custom> | null,
  ): Promise<Evaluation> {
    return this.#runtime.evaluateRemote(key, context);
  }

  /**
   * A reader for one subject, which remembers its answers until the flags change. It may be made before the client is
   * ready.
   */
  withContext<Custom extends object>(context?: EvaluationContext<Custom> | null): FlagReader {
    return new BoundReader(this.#evaluations, context);
  }

  /**
   * What this client knows, as plain JSON, for the option `bootstrap` of another one: the whole configuration, rules
   * included. What the browser of one subject may see is `withContext(context).snapshot()`.
   *
   * @throws {FeatureFlagsError} `NOT_INITIALIZED`
   */
  snapshot(): Snapshot {
    if (!this.isReady()) {
      throw new FeatureFlagsError(
        "NOT_INITIALIZED",
        "The client is not ready: await initialize() before snapshot()",
      );
    }
    return { ...this.#evaluations.snapshot(), ...this.#runtime.configuration() };
  }

  /**
   * Calls `listener` whenever reads may give something else than before, until the function that it returns is called. It
   * need not be called as a method, and so is what React's `useSyncExternalStore` takes.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#publisher.subscribe(listener);

  /** Calls `listener` at every event of this type. */
  on<T extends LifecycleEventType>(type: T, listener: Listener<T>): this {
    this.#publisher.on(type, listener, false);
    return this;
  }

  /** Calls `listener` at the next event of this type, and then no longer. */
  once<T extends LifecycleEventType>(type: T, listener: Listener<T>): this {
    this.#publisher.on(type, listener, true);
    return this;
  }

  /** Calls it no longer. */
  off<T extends LifecycleEventType>(type: T, listener: Listener<T>): this {
    this.#publisher.off(type, listener);
    return this;
  }
}
