import type { EvaluationContext } from "../context.js";

/** What the engine can compare. */
export type AttributeValue = string | number | boolean;

/** Reads one attribute of a context, whatever that is, or gives undefined. Never throws. */
export type ReadAttribute = (context: unknown) => AttributeValue | undefined;

const BUILT_IN: ReadonlySet<string> = new Set<keyof EvaluationContext>([
  "userId",
  "tenantId",
  "email",
  "country",
]);

/** How to read the attribute of this name. */
export function attributeReader(name: string): ReadAttribute {
  return BUILT_IN.has(name)
    ? (context) => text(own(context, name))
    : (context) => acceptable(own(customAttributes(context), name));
}

function customAttributes(context: unknown): unknown {
  const custom = own(context, "customAttributes");
  return Array.isArray(custom) ? undefined : custom;
}

/** A member of a plain object, though not one that it inherits. Proxies and getters may throw. */
function own(owner: unknown, name: string): unknown {
  try {
    return typeof owner === "object" && owner !== null && Object.hasOwn(owner, name)
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
