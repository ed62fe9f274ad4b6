import { BUILT_IN_ATTRIBUTES } from "./engine/protocol.js";
import { beginReading, endReading } from "./internal/nesting.js";

/**
 * Returns the same text for contexts with the same attributes, regardless of order and object identity. Ignores values
 * that count as missing. Returns undefined if a getter of the context throws.
 */
export function contextKey(context: unknown): string | undefined {
  return keyOf(context);
}

/**
 * Returns true if a text counts. `name` is that of a built-in attribute; names and values of custom attributes come
 * without it.
 */
export type Accepts = (text: string, name?: string) => boolean;

/** Returns the key of a context without the texts that do not count. */
export function keyOf(given: unknown, accepts: Accepts = () => true): string | undefined {
  const context = beginReading(given);
  try {
    const builtIn = BUILT_IN_ATTRIBUTES.map((name) => {
      const value = own(context, name);
      return typeof value === "string" && accepts(value, name) ? value : null;
    });
    const customAttributes = own(context, "customAttributes");
    const custom = Object.entries(Array.isArray(customAttributes) ? {} : (customAttributes ?? {}))
      .filter(([name, value]) => accepts(name) && isAttribute(value, accepts))
      .sort(([one], [other]) => (one < other ? -1 : 1));
    return JSON.stringify([builtIn, custom]);
  } catch {
    return undefined;
  } finally {
    endReading();
  }
}

/** Returns the value of a member, or undefined if the owner inherits it. */
export function own(owner: unknown, name: string): unknown {
  const members = owner as Record<string, unknown> | null;
  const isObject = typeof members === "object" && members !== null;
  return isObject && Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Returns true if the engine can compare the value. */
function isAttribute(value: unknown, accepts: Accepts): boolean {
  return typeof value === "string"
    ? accepts(value)
    : typeof value === "boolean" || Number.isFinite(value);
}
