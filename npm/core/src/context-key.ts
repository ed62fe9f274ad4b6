import { BUILT_IN_ATTRIBUTES } from "./engine/protocol.js";

/**
 * Returns the same text for contexts with the same attributes, regardless of order and object identity. Ignores values
 * that count as missing. Returns undefined if a getter of the context throws.
 */
export function contextKey(context: unknown): string | undefined {
  try {
    const members = Object(context);
    const builtIn = BUILT_IN_ATTRIBUTES.map((name) => {
      const value: unknown = members[name];
      return typeof value === "string" ? value : null;
    });
    const { customAttributes } = members;
    const custom = Object.entries(Array.isArray(customAttributes) ? {} : (customAttributes ?? {}))
      .filter(([, value]) => isAttribute(value))
      .sort(([one], [other]) => (one < other ? -1 : 1));
    return JSON.stringify([builtIn, custom]);
  } catch {
    return undefined;
  }
}

/** Returns true if the engine can compare the value. */
function isAttribute(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}
