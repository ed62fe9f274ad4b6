import type { EvaluationContext } from "../evaluation.js";

/** An object whose members may have any type. */
export type Members = { readonly [Name in keyof EvaluationContext]?: unknown } & {
  readonly [name: string]: unknown;
};

/** An object whose members are those that every ordinary object inherits. */
export const ORDINARY: Members = {};

/** A value that the engine can compare. */
export type ComparableValue = string | number | boolean;

/** Returns true if the engine can compare the value. The server would reject any other. */
export function isComparable(value: unknown): value is ComparableValue {
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

/** A surrogate that is not part of a pair. UTF-8 cannot represent it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Returns true if the text is valid Unicode. The server would reject any other. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/**
 * Returns the value of a member, or undefined if the owner inherits it, or if reading it fails: getters and proxies may
 * throw.
 */
export function own(owner: unknown, name: string): unknown {
  try {
    return isObject(owner) && Object.hasOwn(owner, name) ? owner[name] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the value if it may be `customAttributes`, and otherwise an object without members of its own. Throws for a
 * revoked proxy.
 */
export function membersIn(value: unknown): Members {
  return isObject(value) && !Array.isArray(value) ? value : ORDINARY;
}

/** Returns the names of the members that an object owns; none of an array or a primitive, or if a proxy throws. */
export function namesIn(owner: unknown): readonly string[] {
  try {
    return Object.getOwnPropertyNames(membersIn(owner));
  } catch {
    return [];
  }
}

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}
