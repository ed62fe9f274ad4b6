/// <reference lib="esnext.disposable" preserve="true" />

import { FeatureFlagsError, invalidOptions } from "./errors.js";
import type { Evaluation, EvaluationContext, Explanation, Reason } from "./evaluation.js";
import type { LifecycleEventType, Listener } from "./events.js";
import { BoundReader } from "./internal/bound-reader.js";
import type { Evaluations } from "./internal/evaluations.js";
import { FlagStore } from "./internal/flag-store.js";
import { LocalEvaluations } from "./internal/local-evaluations.js";
import { Publisher } from "./internal/publisher.js";
import { RemoteEvaluations } from "./internal/remote-evaluations.js";
import { ClientRuntime } from "./internal/runtime.js";
import { parseInitializeOptions, parseOptions, warnOfOptions } from "./internal/settings.js";
import type { FeatureFlagsClientOptions, InitializeOptions } from "./options.js";
import type { FlagReader } from "./reader.js";
import type { Snapshot } from "./snapshot.js";

/**
 * The option of a client that replaces another one, which has been shut down: that client. The `bootstrap` is then as
 * old as its flags are. `@pennon/react` sets it.
 */
const PREVIOUS = Symbol.for("pennon.previous");

/**
 * Fetches the flags of one environment, keeps them up to date, and evaluates them in memory.
 *
 * ```ts
 * const client = new FeatureFlagsClient({ sdkKey: 'pnk_…' });
 * await client.initialize();
 * client.isEnabled('new_checkout');
 * client.evaluate('new_checkout', { userId: 'ada' }).enabled;
 * ```
 */
export class FeatureFlagsClient {
  /** The name of the class, which survives minification. */
  static readonly name: string = "FeatureFlagsClient";

  /** Loads the engine. @internal */
  protected static loadEngine = () => import("./engine/client-core.js");

  readonly #runtime: ClientRuntime;
  readonly #evaluations: Evaluations;
  readonly #publisher: Publisher;
  /** The option `mode`. */
  readonly mode: "local" | "remote";

  /** @throws {FeatureFlagsError} `INVALID_OPTIONS`. An error that a getter of the options throws is not replaced. */
  constructor(options: FeatureFlagsClientOptions) {
    const settings = parseOptions(options);
    const { logger } = settings;
    const previous = (options as { [PREVIOUS]?: FeatureFlagsClient })[PREVIOUS];
    this.#publisher = new Publisher(settings.eventEmitter, logger);
    const flags = new FlagStore(settings);
    if (previous === undefined) {
      warnOfOptions(settings);
    } else {
      flags.confirmedAt = previous.#evaluations.flags.confirmedAt;
    }
    this.#evaluations =
      settings.mode === "remote"
        ? new RemoteEvaluations(flags, settings)
        : new LocalEvaluations(flags, settings);
    this.mode = settings.mode;
    this.#runtime = new ClientRuntime(
      settings,
      this.#evaluations,
      this.#publisher,
      new.target.loadEngine,
    );
  }

  /**
   * Returns a client that permanently serves the evaluations of a snapshot, and `fallbacks`. It is ready at once and
   * sends no requests: `initialize()` and `refresh()` do nothing. It does not load the engine, so it cannot evaluate a
   * config document. Use it for pages that show the server's evaluations, and for tests.
   *
   * @throws {FeatureFlagsError} `INVALID_OPTIONS`, as the constructor, and if `bootstrap` is null
   */
  static fromSnapshot(
    bootstrap: FeatureFlagsClientOptions["bootstrap"],
    fallbacks?: FeatureFlagsClientOptions["fallbacks"],
  ): FeatureFlagsClient {
    // The result of JSON.parse(localStorage.getItem(…)) without an item.
    if (bootstrap === null) {
      throw invalidOptions(
        "The bootstrap is null. Pass the result of client.snapshot(), or undefined for no flags.",
      );
    }
    const client = new FeatureFlagsClient({ sdkKey: "snapshot", bootstrap, fallbacks });
    client.#runtime.freeze();
    return client;
  }

  /**
   * Fetches all flags, or uses those of `bootstrap`, and starts polling. Await it before the first evaluation.
   * Concurrent calls return the same promise.
   *
   * After a failure, the client keeps trying only with the option `retry`. Call `initialize()` again to try at once.
   *
   * @throws {FeatureFlagsError} `INITIALIZATION_FAILED`, and `INVALID_OPTIONS`, as the constructor
   */
  initialize(options: InitializeOptions = {}): Promise<void> {
    try {
      return this.#runtime.initialize(parseInitializeOptions(options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Reports usage now. The promise resolves when the report has succeeded or failed, and never rejects. Use it in
   * functions that are suspended between requests. Without `reportUsage` it does nothing.
   */
  flush(): Promise<void> {
    return this.#runtime.flush();
  }

  /**
   * Stops polling, aborts pending requests, clears all flags, and emits `shutdown` as the last event. All of this
   * happens at once; the promise waits only for the last usage report and for the store.
   */
  shutdown(): Promise<void> {
    return this.#runtime.shutdown();
  }

  /** Calls `shutdown()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  /** Returns true if `initialize()` has completed. */
  isReady(): boolean {
    return this.#evaluations.isReady;
  }

  /**
   * The error of the last attempt to fetch the flags; undefined before the first one and after a success. After
   * `shutdown()`, it says so. Subscribers are notified of errors before the client is ready, listeners of
   * `refresh:error` of later ones.
   */
  get error(): FeatureFlagsError | undefined {
    return this.#runtime.error;
  }

  /**
   * Fetches the flags now. Concurrent calls share one request.
   *
   * @throws {FeatureFlagsError} `REFRESH_FAILED`, `NOT_INITIALIZED`
   */
  refresh(): Promise<void> {
    return this.#runtime.refresh();
  }

  /**
   * The context for which reads answer, with `mode: "remote"`; undefined in the default mode. After a call of
   * `setContext`, it is the previous context until the new evaluations are served.
   */
  get context(): EvaluationContext | undefined {
    return this.#evaluations.context;
  }

  /**
   * Fetches all evaluations for another context, with `mode: "remote"`, and resolves when they are served. Until then,
   * reads answer for the previous context. A call replaces an earlier one that is pending; both settle together.
   *
   * Before `initialize()`, it only changes the context. If it fails, the client keeps serving the previous evaluations
   * until their TTL expires, and keeps requesting the new ones at every poll.
   *
   * @throws {FeatureFlagsError} `REFRESH_FAILED`, `INVALID_OPTIONS` in the default mode, `NOT_INITIALIZED` after
   *   `shutdown()`
   */
  setContext<Custom extends object>(context?: EvaluationContext<Custom> | null): Promise<void> {
    return this.#runtime.setContext(context);
  }

  /**
   * Returns true if the flag is on without a context: targeting rules never match, and a rollout is skipped. The
   * context is accepted and ignored; to evaluate a flag for a context, call `evaluate`.
   *
   * With `mode: "remote"`, does the same as `evaluate(key, context).enabled`.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `NOT_INITIALIZED`
   */
  isEnabled<Custom extends object>(
    key: string,
    context?: EvaluationContext<Custom> | null,
  ): boolean {
    return this.#evaluations.withoutContext(key, context).enabled;
  }

  /**
   * Returns the reason for the result of `isEnabled`. Despite its name, it does not return a value.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `NOT_INITIALIZED`
   */
  getValue<Custom extends object>(key: string, context?: EvaluationContext<Custom> | null): Reason {
    return this.#evaluations.withoutContext(key, context).reason;
  }

  /**
   * Evaluates the flag for a context, in this process, with the same engine as the server.
   *
   * With `mode: "remote"`, returns the server's evaluation for the client's context. Another context throws
   * `EVALUATION_FAILED`, also in `evaluateAll` and in a reader's `evaluate` and `snapshot`; `read` then returns
   * the value in `fallbacks`, if any, and `readAll` no flags.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `FLAG_UNSUPPORTED`, `NOT_INITIALIZED`
   */
  evaluate<Custom extends object>(
    key: string,
    context?: EvaluationContext<Custom> | null,
  ): Evaluation {
    return this.#evaluations.evaluate(key, context);
  }

  /**
   * Evaluates the flag as `evaluate` does, but returns undefined instead of throwing. For a flag that does not exist,
   * or that this version does not support, returns its value in `fallbacks`, if any.
   */
  read<Custom extends object>(
    key: string,
    context?: EvaluationContext<Custom> | null,
  ): Evaluation | undefined {
    return this.#evaluations.read(key, context);
  }

  /**
   * Evaluates the flag and returns every step of the evaluation, as `/sdk/v1/explain` does, but without the IDs of
   * rules. With `mode: "remote"`, throws `EVALUATION_FAILED`, because the client has no rules.
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
   * Returns true if the flag has rules or a rollout, so that its evaluation can depend on the context. Returns false
   * for a missing flag. With `mode: "remote"`, returns true for every flag that exists.
   */
  isTargeted(key: string): boolean {
    return this.#evaluations.isTargeted(key);
  }

  /** Evaluates all flags for a context, by key. The object is frozen and has no prototype. */
  evaluateAll<Custom extends object>(
    context?: EvaluationContext<Custom> | null,
  ): Readonly<Record<string, Evaluation>> {
    this.#evaluations.requireServed(context);
    return this.#evaluations.readAll(context);
  }

  /**
   * Sends the context to the server, which evaluates the flag. Makes one attempt, without retries. Works without
   * `initialize()`.
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
   * Returns a reader for one context, which caches its evaluations until the flags change. It can be created before the
   * client is ready. With `mode: "remote"` and without a context, the reader follows the client's context.
   */
  withContext<Custom extends object>(context?: EvaluationContext<Custom> | null): FlagReader {
    return new BoundReader(this.#evaluations, context);
  }

  /**
   * Returns the whole configuration, including rules, as plain JSON for the option `bootstrap` of another client. For a
   * browser, which must not see the rules, use `withContext(context).snapshot()`. With `mode: "remote"`, both return
   * the evaluations for the client's context.
   *
   * @throws {FeatureFlagsError} `NOT_INITIALIZED`
   */
  snapshot(): Snapshot {
    if (!this.isReady()) {
      throw new FeatureFlagsError(
        "NOT_INITIALIZED",
        "The client is not ready. Await initialize() before snapshot().",
      );
    }
    return { ...this.#evaluations.snapshot(), ...this.#runtime.configuration() };
  }

  /**
   * Calls `listener` whenever the results of reads may have changed. Returns a function that unsubscribes. `subscribe`
   * is bound to the client, so you can pass it to React's `useSyncExternalStore`.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#publisher.subscribe(listener);

  /** Adds a listener for events of this type. */
  on<T extends LifecycleEventType>(type: T, listener: Listener<T>): this {
    this.#publisher.on(type, listener, false);
    return this;
  }

  /** Adds a listener for the next event of this type only. */
  once<T extends LifecycleEventType>(type: T, listener: Listener<T>): this {
    this.#publisher.on(type, listener, true);
    return this;
  }

  /** Removes a listener for events of this type. */
  off<T extends LifecycleEventType>(type: T, listener: Listener<T>): this {
    this.#publisher.off(type, listener);
    return this;
  }
}
