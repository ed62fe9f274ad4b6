import { contextKey } from "../context-key.js";
import type { ClientCore } from "../engine/client-core.js";
import { FeatureFlagsError } from "../errors.js";
import type { Evaluation, EvaluationContext, Explanation } from "../evaluation.js";
import type { Logger } from "../logger.js";
import type { EvaluateEvent, Settings } from "../options.js";
import type { Snapshot } from "../snapshot.js";
import { VERSION } from "../version.js";
import { callSafely } from "./call-safely.js";
import type { FlagStore } from "./flag-store.js";
import { evaluationOf, type FlagValue, UNSUPPORTED } from "./flags.js";
import { type KeyedContext, keyedContext } from "./keyed-context.js";
import { beginReading, endReading } from "./nesting.js";
import { ContextCheck } from "./warnings.js";

/** Receives the result of an evaluation for a caller. */
export type OnEvaluation = (key: string, evaluation: Evaluation, context: unknown) => void;

/** Evaluates flags: from memory where possible, and otherwise with the engine. */
export class Evaluations {
  readonly flags: FlagStore;
  /** True if `initialize()` has completed. */
  isReady = false;
  /** The engine, while it is loaded. */
  engine: ClientCore | undefined;
  /** Receives every evaluation for a caller, if usage is counted or a hook is set. */
  onEvaluation: OnEvaluation | undefined;
  /** Called when an evaluation needs the engine, which is not loaded. */
  onUnknown: (() => void) | undefined;
  /** The caller's `onEvaluate`, wrapped so that it cannot throw. */
  readonly hook: OnEvaluation | undefined;
  protected readonly logger: Logger;
  protected readonly contextCheck: ContextCheck;
  protected readonly fallbacks: ReadonlyMap<string, Evaluation>;
  readonly #warned = new Set<string>();
  /** Evaluations for one context, used until a configuration is loaded. */
  #prepared:
    | { readonly contextId: string; readonly evaluations: ReadonlyMap<string, Evaluation> }
    | undefined;

  constructor(flags: FlagStore, { fallbacks, logger, onEvaluate }: Settings) {
    this.flags = flags;
    this.fallbacks = fallbacks;
    this.hook = onEvaluate && hookOf(onEvaluate, logger);
    this.onEvaluation = this.hook;
    this.logger = logger;
    this.contextCheck = new ContextCheck(logger);
  }

  /** In remote mode, the context that the next request asks for. */
  get requested(): KeyedContext | undefined {
    return undefined;
  }

  /** In remote mode, the context for which reads return evaluations. */
  get context(): EvaluationContext | undefined {
    return undefined;
  }

  /** Changes the requested context. Returns false if it is equal to the previous one. */
  request(_context: unknown): boolean {
    throw new FeatureFlagsError(
      "INVALID_OPTIONS",
      'setContext() requires mode: "remote". In the default mode, pass the context to evaluate().',
    );
  }

  /** Throws if this client cannot evaluate flags for the context. */
  require(_context: unknown): void {}

  /** Starts with a snapshot. */
  provide({ flags, subject }: Snapshot): void {
    this.flags.provide(flags);
    if (subject !== undefined) {
      this.#prepare(subject);
    }
  }

  /** Uses these evaluations for this context until the engine can evaluate. */
  #prepare({ context, flags }: NonNullable<Snapshot["subject"]>): void {
    const evaluations = flags.map(
      ({ key, enabled, reason }) => [key, evaluationOf(enabled, reason)] as const,
    );
    this.#prepared = { contextId: contextKey(context), evaluations: new Map(evaluations) };
  }

  /** Removes all flags and evaluations. */
  clear(): void {
    this.isReady = false;
    this.engine = undefined;
    this.onEvaluation = undefined;
    this.#prepared = undefined;
    this.flags.clear();
  }

  /** Returns the evaluation without a context; in remote mode, the evaluation for the client's context. */
  withoutContext(key: string, _context: unknown): Evaluation {
    const value = this.flags.get(key);
    if (value === undefined) {
      return this.evaluate(key, undefined);
    }
    if (value.targeted && !value.hasWarned) {
      this.#warnOfIgnoredContext(key, value);
    }
    this.onEvaluation?.(key, value.evaluation, undefined);
    return value.evaluation;
  }

  evaluate(key: string, context: unknown): Evaluation {
    // Before the client is ready, it is unknown whether the flag exists.
    const isKnown = this.isReady || this.flags.get(key) !== undefined;
    const evaluation = isKnown ? this.read(key, context) : undefined;
    if (evaluation === undefined) {
      throw this.#error(key);
    }
    return evaluation;
  }

  /** Evaluates the flag as `evaluate` does, but returns undefined instead of throwing. */
  read(key: string, context: unknown): Evaluation | undefined {
    const value = this.flags.get(key);
    return (value && this.#counted(key, value, context)) ?? this.fallback(key, context);
  }

  /** Evaluates the flag as `read` does, but neither counts the evaluation nor calls the hook. */
  peek(key: string, context: unknown): Evaluation | undefined {
    const value = this.flags.get(key);
    return (value && this.#decide(key, value, context)) ?? this.fallbacks.get(key);
  }

  isTargeted(key: string): boolean {
    return this.flags.get(key)?.targeted ?? false;
  }

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

  /** Returns all flags, evaluated without a context. */
  snapshot(): Snapshot {
    const flags = Array.from(this.flags.entries(), ([key, { evaluation, targeted }]) => ({
      key,
      ...evaluation,
      targeted,
    }));
    return { version: 1, flags };
  }

  /**
   * Returns all flags, the evaluations of those with rules or a rollout for this context, and the fallbacks of flags
   * that do not exist. The result contains only attributes that rules can see.
   */
  snapshotFor(given: EvaluationContext | undefined): Snapshot {
    this.contextCheck.check(given);
    const { flags, ...snapshot } = this.snapshot();
    const { context } = keyedContext(given);
    const evaluated = Array.from(this.flags.entries(), ([key, { targeted }]) => {
      const evaluation = targeted ? this.peek(key, context) : undefined;
      return evaluation === undefined ? [] : [{ key, ...evaluation }];
    });
    const missing = Array.from(this.fallbacks, ([key, fallback]) =>
      this.flags.get(key) === undefined ? [{ key, ...fallback, targeted: false }] : [],
    );
    return {
      ...snapshot,
      flags: [...flags, ...missing.flat()],
      subject: { context, flags: evaluated.flat() },
    };
  }

  explain(key: string, given: unknown): Explanation {
    const value = this.flags.get(key);
    const context = beginReading(given);
    try {
      const explanation = value && this.engine?.explain(value.index, context);
      if (explanation === undefined) {
        throw this.#error(key);
      }
      return explanation;
    } finally {
      endReading();
    }
  }

  #counted(key: string, value: FlagValue, context: unknown): Evaluation | undefined {
    const evaluation = this.#decide(key, value, context);
    if (evaluation !== undefined) {
      this.onEvaluation?.(key, evaluation, context);
    }
    return evaluation;
  }

  #decide(key: string, value: FlagValue, context: unknown): Evaluation | undefined {
    this.contextCheck.check(context);
    if (!value.targeted) {
      return value.evaluation;
    }
    if (value.index === UNSUPPORTED) {
      return undefined;
    }
    const evaluation = this.#evaluate(value.index, context) ?? this.#fromPrepared(key, context);
    if (evaluation === undefined) {
      this.onUnknown?.();
    }
    return evaluation;
  }

  #evaluate(index: number, given: unknown): Evaluation | undefined {
    const context = beginReading(given);
    try {
      return this.engine?.evaluate(index, context);
    } finally {
      endReading();
    }
  }

  #fromPrepared(key: string, context: unknown): Evaluation | undefined {
    const prepared = this.#prepared;
    return prepared !== undefined && prepared.contextId === contextKey(context)
      ? prepared.evaluations.get(key)
      : undefined;
  }

  /** Logs one warning for each flag whose rules or rollout `isEnabled` ignores. */
  #warnOfIgnoredContext(key: string, value: FlagValue): void {
    value.hasWarned = true;
    if (!this.#warned.has(key)) {
      this.#warned.add(key);
      this.logger.warn(
        `The flag '${key}' has rules or a rollout, which isEnabled() and getValue() ignore. ` +
          "Call evaluate() with a context.",
      );
    }
  }

  /** Returns the fallback of a flag that cannot be evaluated. */
  protected fallback(key: string, context: unknown): Evaluation | undefined {
    this.onUnknown?.();
    const fallback = this.fallbacks.get(key);
    if (fallback !== undefined) {
      this.hook?.(key, fallback, context);
    }
    return fallback;
  }

  #error(key: unknown): FeatureFlagsError {
    const value = typeof key === "string" ? this.flags.get(key) : undefined;
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
    const detail =
      typeof key === "string"
        ? `The flag '${key}' does not exist in this environment, or has expired. Create it, or add it to fallbacks.`
        : `A flag key must be a string, not ${described(key)}`;
    return new FeatureFlagsError("FLAG_NOT_FOUND", detail);
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
