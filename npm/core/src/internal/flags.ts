import { REASONS } from "../engine/protocol.js";
import type { Evaluation, Reason } from "../evaluation.js";

/** What a flag is for nobody in particular. */
export interface FlagValue {
  readonly evaluation: Evaluation;
  /** Whether it has rules or a rollout, so that a subject's attributes could matter. */
  readonly targeted: boolean;
  /** Its position in the engine's configuration; -1 if that does not have it, and `UNSUPPORTED` if the engine cannot evaluate it. */
  readonly index: number;
  /** Whether somebody has been told that its rules and rollout were left out. */
  isTold: boolean;
}

/** The index of a flag that this version cannot evaluate for a subject. (A member of its own would make reads slower.) */
export const UNSUPPORTED = -2;

/** A number of flags, each known by its position. They stay what they are, whatever becomes of the engine. */
export interface Flags {
  readonly size: number;
  key(position: number): string;
  value(position: number): FlagValue;
  /** The position of the flag with this key, or -1. */
  find(key: string): number;
}

/** All flags of a configuration. */
export interface ConfiguredFlags extends Flags {
  /** The time to live of each flag in seconds, 0 for the default; asked for only where a cache must know. */
  ttlSeconds(): ArrayLike<number>;
  /** The keys of the flags in which the configuration differs from the engine's last one; none if it had none. */
  changes(): readonly string[];
  /** The flags that this version cannot evaluate for a subject, with the value that it does not know, as JSON. */
  readonly unsupported: readonly { readonly key: string; readonly word: string }[];
  /** The number of entries without a usable key or switch. */
  readonly skipped: number;
}

/** Flags from elsewhere than a configuration. */
export function storedFlags(
  flags: readonly { readonly key: string; readonly value: FlagValue }[],
): Flags {
  const positions = new Map(flags.map(({ key }, position) => [key, position]));
  return {
    size: flags.length,
    key: (position) => flags[position]?.key ?? "",
    value: (position) => {
      const flag = flags[position];
      if (flag === undefined) {
        throw new RangeError(`There is no flag at ${position}`);
      }
      return flag.value;
    },
    find: (key) => positions.get(key) ?? -1,
  };
}

/** The reasons of the engine, and then the one that only clients give. */
const ALL_REASONS: readonly Reason[] = [...REASONS, "fallback"];

/** Every possible evaluation, by the number that stands for it at the engine's boundary. */
export const EVALUATIONS: readonly Evaluation[] = ALL_REASONS.flatMap((reason) =>
  [false, true].map((enabled) => Object.freeze({ enabled, reason })),
);

/** The one object for this evaluation, unless the reason is one that a newer service gives. */
export function evaluationOf(enabled: boolean, reason: Reason): Evaluation {
  const known = EVALUATIONS[ALL_REASONS.indexOf(reason) * 2 + Number(enabled)];
  return known ?? Object.freeze({ enabled, reason });
}
