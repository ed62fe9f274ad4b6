import { contextKey } from "../context-key.js";
import type { ClientCore } from "../engine/client-core.js";
import { FeatureFlagsError } from "../errors.js";
import type { Evaluation, Explanation } from "../evaluation.js";
import type { Logger } from "../logger.js";
import type { EvaluateEvent, Settings } from "../options.js";
import type { Snapshot } from "../snapshot.js";
import { VERSION } from "../version.js";
import { RemoteContext } from "./answers.js";
import type { FlagStore } from "./flag-store.js";
import { evaluationOf, type FlagValue, UNSUPPORTED } from "./flags.js";
import { callSafely } from "./publisher.js";
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
  /** The caller's `onEvaluate`, wrapped so that it cannot throw. */
  readonly hook: OnEvaluation | undefined;
  /** The contexts of the mode `remote`, in which all reads are for the context of the client. */
  readonly remote: RemoteContext | undefined;
  readonly #logger: Logger;
  readonly #fallbacks: ReadonlyMap<string, Evaluation>;
  readonly #contextCheck: ContextCheck;
  readonly #warned = new Set<string>();
  /** Evaluations for one context, used until a configuration is loaded. */
  #prepared:
    | { readonly contextId: string; readonly evaluations: ReadonlyMap<string, Evaluation> }
    | undefined;

  constructor(flags: FlagStore, { fallbacks, logger, onEvaluate, remoteContext }: Settings) {
    this.flags = flags;
    this.remote = remoteContext && new RemoteContext(remoteContext);
    this.#fallbacks = fallbacks;
    this.hook = onEvaluate && hookOf(onEvaluate, logger);
    this.onEvaluation = this.hook;
    this.#logger = logger;
    this.#contextCheck = new ContextCheck(logger);
    if (remoteContext !== undefined) {
      this.checkContext(remoteContext);
    }
  }

  /** Logs a warning for attributes that rules cannot see. */
  checkContext(context: unknown): void {
    this.#contextCheck.check(context);
  }

  /** Uses these evaluations for this context until the engine can evaluate. */
  prepare({ context, flags }: NonNullable<Snapshot["subject"]>): void {
    const contextId = contextKey(context);
    if (contextId !== undefined) {
      const evaluations = flags.map(
        ({ key, enabled, reason }) => [key, evaluationOf(enabled, reason)] as const,
      );
      this.#prepared = { contextId, evaluations: new Map(evaluations) };
    }
  }

  /** Removes all flags and evaluations. */
  clear(): void {
    this.isReady = false;
    this.engine = undefined;
    this.onEvaluation = undefined;
    this.#prepared = undefined;
    this.flags.clear();
  }

  /** Returns the evaluation without a context. */
  withoutContext(key: string): Evaluation {
    const value = this.flags.get(key);
    if (value === undefined) {
      return this.evaluate(key, undefined);
    }
    if (value.targeted && !value.hasWarned) {
      this.#warnOfIgnoredContext(key, value);
    }
    this.onEvaluation?.(key, value.evaluation, this.remote?.current);
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
    return value === undefined || value.index === UNSUPPORTED || this.#isForOther(context)
      ? this.#fallback(key, context)
      : this.#counted(key, value, context);
  }

  isTargeted(key: string): boolean {
    const value = this.flags.get(key);
    // Only the service knows the rules of the mode `remote`, so any flag may have some.
    return value !== undefined && (value.targeted || this.remote !== undefined);
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

  /** Evaluates an existing flag as `read` does, without counting it. */
  peek(key: string, context: unknown): Evaluation | undefined {
    const value = this.flags.get(key);
    return value && this.#decide(key, value, context);
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

  /** Returns all flags, evaluated without a context; in the mode `remote`, for the context of the client. */
  snapshot(): Snapshot {
    const { remote } = this;
    const flags = Array.from(this.flags.entries(), ([key, { evaluation, targeted }]) => ({
      key,
      ...evaluation,
      targeted: targeted || remote !== undefined,
    }));
    if (remote === undefined) {
      return { version: 1, flags };
    }
    const answers = flags.map(({ targeted: _, ...answer }) => answer);
    return { version: 1, flags, subject: { context: remote.current, flags: answers } };
  }

  explain(key: string, context: unknown): Explanation {
    if (this.remote !== undefined) {
      throw new FeatureFlagsError(
        "FLAG_UNSUPPORTED",
        'explain() needs rules, which mode: "remote" never sees. Use the dashboard or the Admin API.',
      );
    }
    const value = this.flags.get(key);
    const explanation = value && this.engine?.explain(value.index, context);
    if (explanation === undefined) {
      throw this.#error(key);
    }
    return explanation;
  }

  #counted(key: string, value: FlagValue, context: unknown): Evaluation | undefined {
    const evaluation = this.#decide(key, value, context);
    if (evaluation !== undefined) {
      this.onEvaluation?.(key, evaluation, context ?? this.remote?.current);
    }
    return evaluation;
  }

  /** Returns true if the flags are for the context of the client, and this is another one. */
  #isForOther(context: unknown): boolean {
    return this.remote?.isServed(context) === false;
  }

  #decide(key: string, value: FlagValue, context: unknown): Evaluation | undefined {
    this.#contextCheck.check(context);
    if (this.#isForOther(context)) {
      return undefined;
    }
    if (!value.targeted) {
      return value.evaluation;
    }
    if (value.index === UNSUPPORTED) {
      return undefined;
    }
    return this.engine?.evaluate(value.index, context) ?? this.#fromPrepared(key, context);
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
      this.#logger.warn(
        `The flag '${key}' has rules or a rollout, which isEnabled() and getValue() ignore. Call evaluate() with a context.`,
      );
    }
  }

  /** Returns the fallback of a flag that does not exist, or that the engine cannot evaluate. */
  #fallback(key: string, context: unknown): Evaluation | undefined {
    const fallback = this.#fallbacks.get(key);
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
        `The flag '${key}' has rules or a rollout that @pennon/core ${VERSION} does not support. Install a newer version, or add the flag to fallbacks.`,
      );
    }
    if (value !== undefined && this.remote !== undefined) {
      return new FeatureFlagsError(
        "NOT_INITIALIZED",
        `The client has no evaluation of '${key}' for this context. In mode: "remote", await setContext(context) first, or read without a context.`,
      );
    }
    if (value !== undefined) {
      return new FeatureFlagsError(
        "NOT_INITIALIZED",
        `The flag '${key}' cannot be evaluated, because there is no configuration yet: the client started from a cache or a snapshot and has not reached the service since, or its engine is restarting. Try again later.`,
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

/** Wraps the caller's hook; an error that it throws is logged. */
function hookOf(onEvaluate: (event: EvaluateEvent) => void, logger: Logger): OnEvaluation {
  return (key, { enabled, reason }, context) => {
    const given = (context ?? undefined) as EvaluateEvent["context"];
    callSafely(
      () => onEvaluate({ key, context: given, enabled, reason }),
      (error) => logger.error("onEvaluate threw or rejected", error),
    );
  };
}

/** Describes a value: its type, and its text if it is a primitive, whose conversion cannot throw. */
function described(value: unknown): string {
  return Object(value) === value ? typeof value : `${typeof value} ${String(value)}`;
}
