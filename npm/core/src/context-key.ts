import { BUILT_IN_ATTRIBUTES } from "./engine/protocol.js";
import { isComparable, namesIn, own } from "./internal/attributes.js";
import { beginReading, endReading } from "./internal/nesting.js";

/**
 * Returns the same text for contexts with the same attributes, regardless of order and object identity. Ignores values
 * that count as missing, also those whose getters throw.
 */
export function contextKey(context: unknown): string {
  return keyOf(context);
}

/**
 * Returns true if a text counts. `name` is that of a built-in attribute; names and values of custom attributes come
 * without it. @internal
 */
export type Accepts = (text: string, name?: string) => boolean;

/**
 * Returns the key of a context without the texts that do not count. Reads the same attributes as the engine. @internal
 */
export function keyOf(given: unknown, accepts: Accepts = () => true): string {
  const context = beginReading(given);
  try {
    const builtIn = BUILT_IN_ATTRIBUTES.map((name) => {
      const value = own(context, name);
      return typeof value === "string" && accepts(value, name) ? value : null;
    });
    const members = own(context, "customAttributes");
    const custom = namesIn(members)
      .map((name) => [name, own(members, name)] as const)
      .filter(
        ([name, value]) =>
          accepts(name) && isComparable(value) && (typeof value !== "string" || accepts(value)),
      )
      .sort(([one], [other]) => (one < other ? -1 : 1));
    return JSON.stringify([builtIn, custom]);
  } finally {
    endReading();
  }
}
