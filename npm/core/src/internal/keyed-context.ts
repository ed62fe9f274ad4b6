import { EMAIL } from "../../../shared/email.js";
import { type Accepts, keyOf } from "../context-key.js";
import { BUILT_IN_ATTRIBUTES } from "../engine/protocol.js";
import type { AttributeValue, EvaluationContext } from "../evaluation.js";
import { isWellFormed } from "./attributes.js";

/** A copy of a context, with only the attributes that count, and their key. */
export interface KeyedContext {
  readonly key: string;
  readonly context: EvaluationContext;
}

/** Returns true if the server accepts the text. */
export const isAccepted: Accepts = (text, name) =>
  isWellFormed(text) && (name !== "email" || EMAIL.test(text));

/** Copies a context. */
export function keyedContext(given: unknown, accepts?: Accepts): KeyedContext {
  const key = keyOf(given, accepts);
  return { key, context: contextOf(key) };
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
