import type { EvaluationContext } from "../evaluation.js";
import { type ComparableValue, isComparable, own } from "../internal/attributes.js";

/** An object whose members may have any type. */
export type Members = { readonly [Name in keyof EvaluationContext]?: unknown } & {
  readonly [name: string]: unknown;
};

/** An object whose members are those that every ordinary object inherits. */
export const ORDINARY: Members = {};

/**
 * Returns the attribute with this name of a context of any type, or undefined. Never throws: getters and proxies may,
 * and a revoked proxy throws even from `Array.isArray`.
 */
export function attributeIn(context: unknown, name: string): ComparableValue | undefined {
  try {
    switch (name) {
      case "userId":
      case "tenantId":
      case "email":
      case "country":
        return stringOrNone(own(context, name));
      default: {
        const value = own(membersIn(own(context, "customAttributes")), name);
        return isComparable(value) ? value : undefined;
      }
    }
  } catch {
    return undefined;
  }
}

/** Returns the value if it may be `customAttributes`, and otherwise an object without members of its own. */
export function membersIn(value: unknown): Members {
  return isObject(value) && !Array.isArray(value) ? value : ORDINARY;
}

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}

/** Returns a built-in attribute, which has to be a string. */
export function stringOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
