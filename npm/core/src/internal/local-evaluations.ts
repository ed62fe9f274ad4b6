import { contextKey } from "../context-key.js";
import { invalidOptions } from "../errors.js";
import type { Evaluation, EvaluationContext, Explanation } from "../evaluation.js";
import type { Snapshot } from "../snapshot.js";
import { Evaluations } from "./evaluations.js";
import { evaluationOf, type FlagValue } from "./flags.js";
import { keyedContext } from "./keyed-context.js";
import { beginReading, endReading } from "./nesting.js";

/** Evaluates flags for any context: from memory where possible, and otherwise with the engine. */
export class LocalEvaluations extends Evaluations {
  readonly #warned = new Set<string>();
  /** Evaluations for one context, used until a configuration is loaded. */
  #prepared:
    | { readonly contextKey: string; readonly evaluations: ReadonlyMap<string, Evaluation> }
    | undefined;

  // Reads are not bound to one context.
  declare readonly requested: undefined;
  declare readonly context: undefined;

  override setRequested(): never {
    throw invalidOptions(
      'setContext() requires mode: "remote". In the default mode, pass the context to evaluate().',
    );
  }

  /** Does nothing, because the engine evaluates flags for every context. */
  override requireServed(): void {}

  override serveSnapshot({ flags, subject }: Snapshot): void {
    this.flags.serveSnapshot(flags);
    if (subject !== undefined) {
      const evaluations = subject.flags.map(
        ({ key, enabled, reason }) => [key, evaluationOf(enabled, reason)] as const,
      );
      this.#prepared = {
        contextKey: contextKey(subject.context),
        evaluations: new Map(evaluations),
      };
    }
  }

  override clear(): void {
    super.clear();
    this.#prepared = undefined;
  }

  override withoutContext(key: string): Evaluation {
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

  override isTargeted(key: string): boolean {
    return this.flags.get(key)?.targeted ?? false;
  }

  override explain(key: string, given: unknown): Explanation {
    const value = this.flags.get(key);
    const context = beginReading(given);
    try {
      const explanation = value && this.engine?.explain(value.index, context);
      if (explanation === undefined) {
        throw this.error(key);
      }
      return explanation;
    } finally {
      endReading();
    }
  }

  /** Returns all flags, evaluated without a context. */
  override snapshot(): Snapshot {
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
  override snapshotFor(given: EvaluationContext | undefined): Snapshot {
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

  protected override evaluateTargeted(
    key: string,
    index: number,
    context: unknown,
  ): Evaluation | undefined {
    return this.#fromEngine(index, context) ?? this.#fromPrepared(key, context);
  }

  #fromEngine(index: number, given: unknown): Evaluation | undefined {
    const context = beginReading(given);
    try {
      return this.engine?.evaluate(index, context);
    } finally {
      endReading();
    }
  }

  #fromPrepared(key: string, context: unknown): Evaluation | undefined {
    const prepared = this.#prepared;
    return prepared !== undefined && prepared.contextKey === contextKey(context)
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
}
