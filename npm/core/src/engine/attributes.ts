import type { EvaluationContext } from "../context.js";
import { BUILT_IN_ATTRIBUTES } from "./protocol.js";

/** What the engine can compare. */
export type AttributeValue = string | number | boolean;

/** Reads one attribute of a context, whatever that is, or gives undefined. Never throws. */
export type ReadAttribute = (context: unknown) => AttributeValue | undefined;

type Member = keyof EvaluationContext;

/** How to read the attribute of this name. */
export function attributeReader(name: string): ReadAttribute {
  const builtIn = BUILT_IN_ATTRIBUTES.find((each) => each === name);
  return builtIn === undefined
    ? (context) => acceptable(own(member(context, "customAttributes"), name))
    : (context) => text(member(context, builtIn));
}

/**
 * The same as `own`, for the few names that are known beforehand, which takes a quarter of the time: a compiler knows where
 * they are in an object, and an ordinary object inherits none of them.
 */
function member(context: unknown, name: Member): unknown {
  try {
    if (typeof context !== "object" || context === null) {
      return undefined;
    }
    const inheritsNone =
      Object.getPrototypeOf(context) === Object.prototype &&
      memberOf(Object.prototype, name) === undefined;
    return inheritsNone || Object.hasOwn(context, name) ? memberOf(context, name) : undefined;
  } catch {
    return undefined;
  }
}

function memberOf(context: Partial<Record<Member, unknown>>, name: Member): unknown {
  switch (name) {
    case "userId":
      return context.userId;
    case "tenantId":
      return context.tenantId;
    case "email":
      return context.email;
    case "country":
      return context.country;
    case "customAttributes":
      return context.customAttributes;
  }
}

/**
 * Returns a member of a plain object, but no inherited one. Getters and proxies may throw, and a revoked proxy throws even
 * when it is asked whether it is an array.
 */
function own(owner: unknown, name: string): unknown {
  try {
    const isPlain = typeof owner === "object" && owner !== null && !Array.isArray(owner);
    return isPlain && Object.hasOwn(owner, name)
      ? (owner as Readonly<Record<string, unknown>>)[name]
      : undefined;
  } catch {
    return undefined;
  }
}

/** Values that the service would refuse count as absent. */
function acceptable(value: unknown): AttributeValue | undefined {
  switch (typeof value) {
    case "string":
      return text(value);
    case "number":
      return Number.isFinite(value) ? value : undefined;
    case "boolean":
      return value;
    default:
      return undefined;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
