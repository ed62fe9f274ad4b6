import { type ComparableValue, isComparable, membersIn, own } from "../internal/attributes.js";

/** Returns the attribute with this name of a context of any type, or undefined. Never throws. */
export function attributeIn(context: unknown, name: string): ComparableValue | undefined {
  switch (name) {
    case "userId":
    case "tenantId":
    case "email":
    case "country":
      return stringOrNone(own(context, name));
    default:
      return custom(context, name);
  }
}

function custom(context: unknown, name: string): ComparableValue | undefined {
  try {
    const value = own(membersIn(own(context, "customAttributes")), name);
    return isComparable(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a built-in attribute, which has to be a string. */
export function stringOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
