import { BUILT_IN_ATTRIBUTES } from "./engine/protocol.js";
import { isComparable, own } from "./internal/attributes.js";
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
      .filter(
        ([name, value]) =>
          accepts(name) && isComparable(value) && (typeof value !== "string" || accepts(value)),
      )
      .sort(([one], [other]) => (one < other ? -1 : 1));
    return JSON.stringify([builtIn, custom]);
  } catch {
    return undefined;
  } finally {
    endReading();
  }
}
