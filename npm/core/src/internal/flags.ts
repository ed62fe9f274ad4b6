import { REASONS } from "../engine/protocol.js";
import type { Evaluation, Reason } from "../evaluation.js";
import type { SnapshotFlag } from "../snapshot.js";
import type { KeyedContext } from "./keyed-context.js";

/** A flag's evaluation without a context, and what is known about the flag. */
export interface FlagValue {
  readonly evaluation: Evaluation;
  /** True if the flag has rules or a rollout, so that attributes can change its evaluation. */
  readonly targeted: boolean;
  /**
   * The position in the engine's configuration; -1 if it is not there, and `UNSUPPORTED` if the engine cannot evaluate
   * it.
   */
  readonly index: number;
  /** True if the client has warned that `isEnabled` ignores the rules and the rollout. */
  hasWarned: boolean;
}

/** The index of a flag that this version cannot evaluate for a context. (A separate member would slow down reads.) */
export const UNSUPPORTED = -2;

/** A list of flags by position. It is immutable, and does not need the engine. */
export interface Flags {
  /** In remote mode, the context for which the server has evaluated the flags. */
  readonly context?: KeyedContext | undefined;
  readonly size: number;
  key(position: number): string;
  value(position: number): FlagValue;
  /** Returns the position of the flag with this key, or -1. */
  find(key: string): number;
  /** Returns the TTL of each flag in seconds, 0 for the default. Only caches need it. */
  ttlSeconds?(): ArrayLike<number>;
}

/** All flags of a configuration. */
export interface ConfiguredFlags extends Flags {
  ttlSeconds(): ArrayLike<number>;
  /**
   * The keys of the flags that differ from the engine's previous configuration; empty if it had none. Flags that do not
   * come from the engine lack it.
   */
  readonly changes?: readonly string[];
  /** The flags that this version cannot evaluate for a context, each with the unknown value as JSON. */
  readonly unsupported: readonly { readonly key: string; readonly value: string }[];
  /** The number of entries without a usable key or switch. */
  readonly skipped: number;
}

/** Returns flags that do not come from a configuration, but from the server's evaluations, a cache or a snapshot. */
export function storedFlags(given: readonly SnapshotFlag[], context?: KeyedContext): Flags {
  const keys = given.map(({ key }) => key);
  const values = given.map(({ enabled, reason, targeted }) => {
    const evaluation = evaluationOf(enabled, reason);
    return { evaluation, targeted, index: -1, hasWarned: false };
  });
  const positions = new Map(keys.map((key, position) => [key, position]));
  return {
    context,
    size: keys.length,
    key: (position) => keys[position] ?? "",
    value: (position) => {
      const value = values[position];
      if (value === undefined) {
        throw new RangeError(`There is no flag at ${position}`);
      }
      return value;
    },
    find: (key) => positions.get(key) ?? -1,
  };
}

/** The reasons of the engine, followed by the one that only clients use. */
const ALL_REASONS: readonly Reason[] = [...REASONS, "fallback"];

/** Every possible evaluation, by its number at the engine's boundary. */
export const EVALUATIONS: readonly Evaluation[] = ALL_REASONS.flatMap((reason) =>
  [false, true].map((enabled) => Object.freeze({ enabled, reason })),
);

/** Returns the shared object for this evaluation, or a new one if the reason comes from a newer server. */
export function evaluationOf(enabled: boolean, reason: Reason): Evaluation {
  const known = EVALUATIONS[ALL_REASONS.indexOf(reason) * 2 + Number(enabled)];
  return known ?? Object.freeze({ enabled, reason });
}
