import type { EvaluationContext } from "./context.js";
import { FeatureFlagsError } from "./errors.js";
import type { Evaluation, Reason } from "./evaluation.js";
import type { LifecycleEventType, Listener } from "./events.js";
import { Life } from "./internal/life.js";
import type { FlagValue } from "./internal/values.js";
import { type FeatureFlagsClientOptions, parseOptions } from "./options.js";

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
  readonly #life: Life;
  readonly #ignoredContext = new Set<string>();

  /** @throws {FeatureFlagsError} `INVALID_OPTIONS` */
  constructor(options: FeatureFlagsClientOptions) {
    this.#life = new Life(parseOptions(options));
  }

  /**
   * Fetches all flags and begins to poll. Await it before the first evaluation. Called again meanwhile it returns the same
   * promise; after a failure it may be called again.
   *
   * @throws {FeatureFlagsError} `INITIALIZATION_FAILED`
   */
  initialize(): Promise<void> {
    return this.#life.initialize();
  }

  /** Stops polling, gives up what is in flight, forgets all flags, and emits `shutdown` as the last event. */
  shutdown(): Promise<void> {
    this.#life.shutdown();
    return Promise.resolve();
  }

  /** Whether `initialize()` has completed. */
  isReady(): boolean {
    return this.#life.isReady;
  }

  /**
   * Fetches now. Calls at the same time share one request.
   *
   * @throws {FeatureFlagsError} `REFRESH_FAILED`, `NOT_INITIALIZED`
   */
  refresh(): Promise<void> {
    return this.#life.refresh();
  }

  /**
   * Whether the flag is on for nobody in particular: rules on attributes never match, and a rollout falls through. The
   * context is accepted but does not change the result; for one subject's answer there is `evaluate`.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `NOT_INITIALIZED`
   */
  isEnabled(key: string, _context?: EvaluationContext | null): boolean {
    return this.#ahead(key).enabled;
  }

  /**
   * The reason for what `isEnabled` says; despite the name not a value.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `NOT_INITIALIZED`
   */
  getValue(key: string, _context?: EvaluationContext | null): Reason {
    return this.#ahead(key).reason;
  }

  /**
   * What the flag is for this subject, decided here and now by the same engine that the service runs.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `NOT_INITIALIZED`
   */
  evaluate(key: string, context?: EvaluationContext | null): Evaluation {
    const value = this.#value(key);
    if (!value.targeted) {
      return value.evaluation;
    }
    const evaluation = this.#life.evaluate(value, context);
    if (evaluation === undefined) {
      throw new FeatureFlagsError(
        "NOT_INITIALIZED",
        `There is no configuration to evaluate '${key}' by: the client started from its cache and has not reached the service since, or its engine is starting anew`,
      );
    }
    return evaluation;
  }

  /** What `evaluate` would say, or undefined where it would throw. */
  read(key: string, context?: EvaluationContext | null): Evaluation | undefined {
    const value = this.#life.values.get(key);
    return value?.targeted ? this.#life.evaluate(value, context) : value?.evaluation;
  }

  /** Calls `listener` at every event of this type. */
  on<T extends LifecycleEventType>(type: T, listener: Listener<T>): this {
    // Whoever listens to one type gets no other.
    this.#life.on(type, listener as Listener);
    return this;
  }

  /** The evaluation ahead of time, without a context. */
  #ahead(key: string): Evaluation {
    const value = this.#value(key);
    if (value.targeted && !this.#ignoredContext.has(key)) {
      this.#ignoredContext.add(key);
      this.#life.logger.warn(
        `The flag '${key}' has rules or a rollout, which isEnabled() and getValue() leave out; use evaluate() to ask for one subject`,
      );
    }
    return value.evaluation;
  }

  #value(key: string): FlagValue {
    const value = this.#life.values.get(key);
    if (value === undefined) {
      throw this.#life.isReady
        ? new FeatureFlagsError("FLAG_NOT_FOUND", `There is no flag '${key}' in this environment`)
        : new FeatureFlagsError(
            "NOT_INITIALIZED",
            "The client is not ready: await initialize() before reading flags, and read none after shutdown()",
          );
    }
    return value;
  }
}
