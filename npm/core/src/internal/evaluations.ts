import type { ClientCore } from "../engine/client-core.js";
import { FeatureFlagsError } from "../errors.js";
import type { Evaluation, EvaluationContext, Explanation } from "../evaluation.js";
import type { Logger } from "../logger.js";
import type { EvaluateEvent } from "../options.js";
import type { Snapshot } from "../snapshot.js";
import { VERSION } from "../version.js";
import { callSafely } from "./call-safely.js";
import type { FlagStore } from "./flag-store.js";
import { type FlagValue, UNSUPPORTED } from "./flags.js";
import type { KeyedContext } from "./keyed-context.js";
import type { Settings } from "./settings.js";
import { ContextCheck } from "./warnings.js";

/** Receives the result of an evaluation for a caller. */
export type OnEvaluation = (key: string, evaluation: Evaluation, context: unknown) => void;

/** The evaluations of a client, for the contexts that its mode allows. */
export abstract class Evaluations {
  readonly flags: FlagStore;
  /** True if `initialize()` has completed. */
  isReady = false;
  /** The engine, while it is loaded. */
  engine: ClientCore | undefined;
  /** Receives every evaluation for a caller, if usage is counted or a hook is set. */
  onEvaluation: OnEvaluation | undefined;
  /** Called when an evaluation needs the engine, which is not loaded. */
  startEngine: (() => void) | undefined;
  /** The caller's `onEvaluate`, wrapped so that it cannot throw. */
  readonly hook: OnEvaluation | undefined;
  protected readonly logger: Logger;
  protected readonly contextCheck: ContextCheck;
  protected readonly fallbacks: ReadonlyMap<string, Evaluation>;

  constructor(flags: FlagStore, { fallbacks, logger, onEvaluate }: Settings) {
    this.flags = flags;
    this.fallbacks = fallbacks;
    this.hook = onEvaluate && hookOf(onEvaluate, logger);
    this.onEvaluation = this.hook;
    this.logger = logger;
    this.contextCheck = new ContextCheck(logger);
  }

  /** In remote mode, the context that the next request asks for. */
  abstract readonly requested: KeyedContext | undefined;

  /** In remote mode, the context for which reads return evaluations. */
  abstract readonly context: EvaluationContext | undefined;

  /** Changes the requested context. Returns false if it is equal to the previous one. */
  abstract setRequested(context: unknown): boolean;

  /** Throws if this client cannot evaluate flags for the context. */
  abstract requireServed(context: unknown): void;

  /** Serves the flags of a snapshot. */
  abstract serveSnapshot(snapshot: Snapshot): void;

  /** Removes all flags and evaluations. */
  clear(): void {
    this.isReady = false;
    this.engine = undefined;
    this.onEvaluation = undefined;
    this.flags.clear();
  }

  /** Returns the evaluation without a context; in remote mode, the evaluation for the client's context. */
  abstract withoutContext(key: string, context: unknown): Evaluation;

  evaluate(key: string, context: unknown): Evaluation {
    // Before the client is ready, it is unknown whether the flag exists.
    const isKnown = this.isReady || this.flags.get(key) !== undefined;
    const evaluation = isKnown ? this.read(key, context) : undefined;
    if (evaluation === undefined) {
      throw this.error(key);
    }
    return evaluation;
  }

  /** Evaluates the flag as `evaluate` does, but returns undefined instead of throwing. */
  read(key: string, context: unknown): Evaluation | undefined {
    const value = this.flags.get(key);
    const evaluation = value && this.#decide(key, value, context);
    if (evaluation === undefined) {
      return this.fallback(key, context);
    }
    this.onEvaluation?.(key, evaluation, context);
    return evaluation;
  }

  /** Evaluates the flag as `read` does, but neither counts the evaluation nor calls the hook. */
  peek(key: string, context: unknown): Evaluation | undefined {
    const value = this.flags.get(key);
    return (value && this.#decide(key, value, context)) ?? this.fallbacks.get(key);
  }

  /** Returns true if the evaluation of the flag can depend on the context. */
  abstract isTargeted(key: string): boolean;

  readAll(context: unknown): Readonly<Record<string, Evaluation>> {
    // Without a prototype, no key is inherited, and `__proto__` is an ordinary key.
    const all: Record<string, Evaluation> = Object.create(null);
    for (const [key, value] of this.flags.entries()) {
      const evaluation = this.#decide(key, value, context);
      if (evaluation !== undefined) {
        all[key] = evaluation;
      }
    }
    return Object.freeze(all);
  }

  /** Starts counting evaluations. */
  countBy(count: OnEvaluation): void {
    const { hook } = this;
    this.onEvaluation =
      hook === undefined
        ? count
        : (key, evaluation, context) => {
            count(key, evaluation, context);
            hook(key, evaluation, context);
          };
  }

  /** Returns all flags, to start another client. */
  abstract snapshot(): Snapshot;

  /** Returns all flags and their evaluations for this context. */
  abstract snapshotFor(context: EvaluationContext | undefined): Snapshot;

  abstract explain(key: string, context: unknown): Explanation;

  /** Evaluates a flag with rules or a rollout. */
  protected abstract evaluateTargeted(
    key: string,
    index: number,
    context: unknown,
  ): Evaluation | undefined;

  #decide(key: string, value: FlagValue, context: unknown): Evaluation | undefined {
    this.contextCheck.check(context);
    if (!value.targeted) {
      return value.evaluation;
    }
    if (value.index === UNSUPPORTED) {
      return undefined;
    }
    const evaluation = this.evaluateTargeted(key, value.index, context);
    if (evaluation === undefined) {
      this.startEngine?.();
    }
    return evaluation;
  }

  /** Returns the fallback of a flag that cannot be evaluated. */
  protected fallback(key: string, context: unknown): Evaluation | undefined {
    this.startEngine?.();
    const fallback = this.fallbacks.get(key);
    if (fallback !== undefined) {
      this.hook?.(key, fallback, context);
    }
    return fallback;
  }

  /** Returns the error of a flag without an evaluation. */
  protected error(key: string): FeatureFlagsError {
    const value = this.flags.get(key);
    if (value?.index === UNSUPPORTED) {
      return new FeatureFlagsError(
        "FLAG_UNSUPPORTED",
        `The flag '${key}' has rules or a rollout that @pennon/core ${VERSION} does not support. ` +
          "Install a newer version, or add the flag to fallbacks.",
      );
    }
    if (value !== undefined) {
      return new FeatureFlagsError(
        "NOT_INITIALIZED",
        `The flag '${key}' cannot be evaluated yet: the client has not reached Pennon, ` +
          "or its engine is restarting. Try again later.",
      );
    }
    if (!this.isReady) {
      return new FeatureFlagsError(
        "NOT_INITIALIZED",
        "The client is not ready. Await initialize() before reading flags, and do not read flags after shutdown().",
      );
    }
    return new FeatureFlagsError(
      "FLAG_NOT_FOUND",
      // JavaScript may pass any type.
      typeof key === "string"
        ? `The flag '${key}' does not exist in this environment, or has expired. Create it, or add it to fallbacks.`
        : `A flag key must be a string, not ${described(key)}`,
    );
  }
}

/**
 * Wraps the caller's hook. An error that it throws is logged. It is not called with evaluations of its own, which would
 * not end.
 */
function hookOf(onEvaluate: (event: EvaluateEvent) => void, logger: Logger): OnEvaluation {
  let isCalled = false;
  return (key, { enabled, reason }, context) => {
    if (isCalled) {
      return;
    }
    isCalled = true;
    const given = (context ?? undefined) as EvaluateEvent["context"];
    callSafely(
      () => onEvaluate({ key, context: given, enabled, reason }),
      (error) => logger.error("onEvaluate threw or rejected", error),
    );
    isCalled = false;
  };
}

/** Describes a value: its type, and its text if it is a primitive, whose conversion cannot throw. */
function described(value: unknown): string {
  return Object(value) === value ? typeof value : `${typeof value} ${String(value)}`;
}
