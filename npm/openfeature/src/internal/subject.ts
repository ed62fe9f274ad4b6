import { type EvaluationContext, InvalidContextError } from "@openfeature/core";
import type { EvaluationContext as Subject } from "@pennon/core";

type Attribute = string | number | boolean;

/** The built-in attributes, and what stands for `userId` where that is absent. */
const TEXTS = ["targetingKey", "userId", "tenantId", "email", "country"] as const;

/** What the service takes for an e-mail address. */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i;

/**
 * The context of OpenFeature, which is flat, as one of ours: what the service makes of it that is asked by OpenFeature's own
 * protocol, and refused where the service refuses it.
 *
 * @throws {InvalidContextError}
 */
export function toSubject(context: EvaluationContext): Subject {
  const texts: Partial<Record<(typeof TEXTS)[number], string>> = {};
  const customAttributes: [string, Attribute][] = [];
  const faults: string[] = [];
  for (const [name, value] of members(context)) {
    const text = TEXTS.find((text) => text === name);
    if (text === undefined) {
      customAttributes.push(...attributes(name, value));
    } else if (typeof value === "string") {
      texts[text] = value;
    } else if (value !== null && value !== undefined) {
      faults.push(`${name} must be a string`);
    }
  }
  if (texts.email !== undefined && !EMAIL.test(texts.email)) {
    faults.push("email must be an e-mail address");
  }
  if (faults.length > 0) {
    throw new InvalidContextError(faults.join("; "));
  }
  const { targetingKey: userId, ...others } = texts;
  return {
    ...(userId !== undefined && { userId }),
    ...others,
    // Unlike assignment, this makes a member of a name such as `__proto__` too.
    customAttributes: Object.fromEntries(customAttributes),
  };
}

/** Lists and structures are no attributes, except for what our own contexts have as `customAttributes`. */
function attributes(name: string, value: unknown): [string, Attribute][] {
  const own = name === "customAttributes" && typeof value === "object" && !Array.isArray(value);
  const found = own ? members(value ?? {}) : [[name, value] as const];
  return found.filter((member): member is [string, Attribute] => isAttribute(member[1]));
}

function isAttribute(value: unknown): value is Attribute {
  return ["string", "number", "boolean"].includes(typeof value);
}

/** The members as JSON would have them, since that is how the service is asked. */
function members(of: object): (readonly [string, unknown])[] {
  return Object.entries(of).map(([name, value]) => [name, asJson(value)]);
}

function asJson(value: unknown): unknown {
  if (value instanceof Date) {
    return value.toJSON();
  }
  return typeof value === "number" && !Number.isFinite(value) ? null : value;
}
