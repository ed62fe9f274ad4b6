import type { Evaluation, EvaluationContext, Explanation } from "./evaluation.js";
import type { Snapshot } from "./snapshot.js";

/**
 * Reads flags for one subject, and remembers the answers until the flags change. Made by `client.withContext()`.
 *
 * Nothing here throws but `evaluate` and `explain`. What it returns is the same object for as long as the answer is the
 * same, so that it may be compared by `===`, or be a snapshot of React's `useSyncExternalStore`.
 */
export interface FlagReader {
  /** The subject, as it was when the reader was made. */
  readonly context: EvaluationContext;
  /** Whether the flag is on for the subject; `fallback` where there is no answer. */
  isEnabled(key: string, fallback?: boolean): boolean;
  /** What the flag is for the subject, or undefined where there is no answer. */
  read(key: string): Evaluation | undefined;
  /** What all flags are for the subject, by key. */
  readAll(): Readonly<Record<string, Evaluation>>;
  /**
   * What the flag is for the subject.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `FLAG_UNSUPPORTED`, `NOT_INITIALIZED`
   */
  evaluate(key: string): Evaluation;
  /**
   * How that came about.
   *
   * @throws {FeatureFlagsError} `FLAG_NOT_FOUND`, `FLAG_UNSUPPORTED`, `NOT_INITIALIZED`
   */
  explain(key: string): Explanation;
  /**
   * The answers for this subject as plain JSON, for the option `bootstrap` of the client in its browser. It holds no rules,
   * but the context: that must be one that the browser may see.
   */
  snapshot(): Snapshot;
}
