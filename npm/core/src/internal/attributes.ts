/** A value that the engine can compare. */
export type ComparableValue = string | number | boolean;

/** Returns true if the engine can compare the value. The service would reject any other. */
export function isComparable(value: unknown): value is ComparableValue {
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

/** A surrogate that is not part of a pair. UTF-8 cannot represent it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Returns true if the text is valid Unicode. The service would reject any other. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** Returns the value of a member, or undefined if the owner inherits it. */
export function own(owner: unknown, name: string): unknown {
  const members = owner as Record<string, unknown> | null;
  const isObject = typeof members === "object" && members !== null;
  return isObject && Object.hasOwn(members, name) ? members[name] : undefined;
}
