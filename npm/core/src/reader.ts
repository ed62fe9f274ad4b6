import type { Evaluation, EvaluationContext, Explanation } from "./evaluation.js";
import type { Snapshot } from "./snapshot.js";

/**
 * Evaluates flags for one context, and caches the evaluations until the flags change. `client.withContext()` returns
 * one.
 *
 * Only `evaluate` and `explain` throw, and `snapshot` with `mode: "remote"`. Equal results are the same object, so you
 * can compare them with `===`, or return them as a snapshot to React's `useSyncExternalStore`.
 */
export interface FlagReader<Key extends string = string> {
  /** The context, copied when the reader was created; the client's, if the reader follows it. */
  readonly context: EvaluationContext;
  /** Returns true if the flag is on for the context, and `fallback` (false by default) if it cannot be evaluated. */
  isEnabled(key: Key, fallback?: boolean): boolean;
  /** Evaluates the flag, or returns undefined if it cannot be evaluated. */
  read(key: Key): Evaluation | undefined;
  /**
   * Returns the same as `read`, but does not count as an evaluation: it is not reported, and does not call
   * `onEvaluate`. For user interfaces that render more often than they use a result.
   */
  peek(key: Key): Evaluation | undefined;
  /** Evaluates all flags, by key. */
  readAll(): Readonly<Record<string, Evaluation>>;
  /**
   * Evaluates the flag.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `FLAG_UNSUPPORTED`, `NOT_INITIALIZED`
   */
  evaluate(key: Key): Evaluation;
  /**
   * Evaluates the flag and returns every step of the evaluation.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `FLAG_UNSUPPORTED`, `NOT_INITIALIZED`
   */
  explain(key: Key): Explanation;
  /**
   * Returns the evaluations for this context as plain JSON, for the option `bootstrap` of the client in the browser.
   * The snapshot contains no rules, but it contains the context, so use a context that the browser may see.
   */
  snapshot(): Snapshot;
}
