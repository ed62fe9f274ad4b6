import { contextKey } from "../context-key.js";
import { BUILT_IN_ATTRIBUTES } from "../engine/protocol.js";
import type { AttributeValue, EvaluationContext } from "../evaluation.js";

/** A context that the service evaluates: only the attributes that it accepts, and their `contextKey`. */
export interface KeyedContext {
  readonly key: string;
  readonly context: EvaluationContext;
}

/** Copies a context. Returns undefined if one of its getters throws. */
export function keyedContext(given: unknown): KeyedContext | undefined {
  const key = contextKey(given);
  return key === undefined ? undefined : { key, context: contextOf(key) };
}

/** Returns the context with this key. It is frozen, because its evaluations are shared. */
function contextOf(key: string): EvaluationContext {
  const [builtIn, custom]: [(string | null)[], [string, AttributeValue][]] = JSON.parse(key);
  const members = BUILT_IN_ATTRIBUTES.map((name, index) => [name, builtIn[index]] as const);
  return Object.freeze({
    ...Object.fromEntries(members.filter(([, value]) => value !== null)),
    ...(custom.length > 0 && { customAttributes: Object.freeze(Object.fromEntries(custom)) }),
  });
}
