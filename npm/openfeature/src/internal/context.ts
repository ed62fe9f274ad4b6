import { type EvaluationContext, InvalidContextError } from "@openfeature/core";
import type { EvaluationContext as PennonContext } from "@pennon/core";
import { EMAIL } from "../../../shared/email.js";

type Attribute = string | number | boolean;

/** The built-in attributes, and `targetingKey`, which replaces a missing `userId`. */
const STRING_ATTRIBUTES = ["targetingKey", "userId", "tenantId", "email", "country"] as const;

/**
 * Converts a flat OpenFeature context to a Pennon context, as the server does for requests by OpenFeature's own
 * protocol. Throws for a context that the server would reject.
 *
 * @throws {InvalidContextError}
 */
export function toPennonContext(context: EvaluationContext): PennonContext {
  const texts: Partial<Record<(typeof STRING_ATTRIBUTES)[number], string>> = {};
  const customAttributes: [string, Attribute][] = [];
  const problems: string[] = [];
  for (const [name, value] of members(context)) {
    const text = STRING_ATTRIBUTES.find((text) => text === name);
    if (text === undefined) {
      customAttributes.push(...attributes(name, value));
    } else if (typeof value === "string") {
      texts[text] = value;
    } else if (value !== null && value !== undefined) {
      problems.push(`${name} must be a string`);
    }
  }
  if (texts.email !== undefined && !EMAIL.test(texts.email)) {
    problems.push("email must be an e-mail address");
  }
  if (problems.length > 0) {
    throw new InvalidContextError(problems.join("; "));
  }
  const { targetingKey, ...others } = texts;
  return {
    userId: targetingKey,
    ...others,
    // Unlike assignment, this also creates members with names such as `__proto__`.
    customAttributes: Object.fromEntries(customAttributes),
  };
}

/**
 * Returns the attributes of a member: lists and structures are ignored, except for the `customAttributes` of a Pennon
 * context.
 */
function attributes(name: string, value: unknown): [string, Attribute][] {
  const isPennonMember =
    name === "customAttributes" && typeof value === "object" && !Array.isArray(value);
  const found = isPennonMember ? members(value ?? {}) : [[name, value] as const];
  return found.filter((member): member is [string, Attribute] => isAttribute(member[1]));
}

function isAttribute(value: unknown): value is Attribute {
  return ["string", "number", "boolean"].includes(typeof value);
}

/** Returns the members as JSON would represent them, because a request to the server contains JSON. */
function members(of: object): (readonly [string, unknown])[] {
  return Object.entries(of).map(([name, value]) => [name, asJson(value)]);
}

function asJson(value: unknown): unknown {
  if (value instanceof Date) {
    return value.toJSON();
  }
  return typeof value === "number" && !Number.isFinite(value) ? null : value;
}
