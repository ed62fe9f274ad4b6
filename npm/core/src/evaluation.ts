/**
 * The step that determined an evaluation. With `mode: "remote"`, and from `evaluateRemote`, a newer server may return
 * other reasons.
 */
export type Reason =
  | "flag_enabled"
  | "flag_disabled"
  | "flag_archived"
  | "targeting_rule"
  | "rollout"
  /**
   * The flag cannot be evaluated, and the client's `fallbacks` has a value for it. The server never returns this
   * reason.
   */
  | "fallback";

/**
 * The result for one flag and one context, and its reason. Each possible evaluation is one frozen object, so equal
 * evaluations are identical (`===`).
 */
export interface Evaluation {
  readonly enabled: boolean;
  readonly reason: Reason;
}

/** An evaluation with every step that led to it, as `/sdk/v1/explain` returns it, but without the IDs of rules. */
export interface Explanation extends Evaluation {
  /** The rules that were tried, in order. If a rule determined the evaluation, it is the last one. */
  readonly rules: readonly RuleTrace[];
  /** The rollout, or null if the evaluation did not reach it. */
  readonly rollout: RolloutTrace | null;
}

/** A rule that was tried. */
export interface RuleTrace {
  readonly priority: number;
  readonly logic: "and" | "or";
  /** The value of the flag if the rule matches. */
  readonly value: boolean;
  readonly matched: boolean;
  /** All conditions of the rule, including those after the deciding one. */
  readonly conditions: readonly ConditionTrace[];
}

/**
 * A condition and its result. Exactly one of `valueString`, `valueInt` and `valueBool` is present, as `valueType`
 * indicates.
 */
export interface ConditionTrace {
  readonly attribute: string;
  readonly operator: "==" | "!=" | ">" | "<" | ">=" | "<=";
  readonly valueType: "string" | "number" | "boolean";
  readonly valueString?: string;
  readonly valueInt?: number;
  readonly valueBool?: boolean;
  /** The attribute's value in the context; null if it is missing. */
  readonly actual: string | number | boolean | null;
  readonly outcome: "held" | "did_not_hold" | "missing" | "other_type";
}

/** The rollout that was reached, and the bucket of the context. */
export interface RolloutTrace {
  readonly strategy: "per_user" | "per_tenant";
  readonly percentage: number;
  /** The bucket of the context, 0 to 99; null without a bucketing key. */
  readonly bucket: number | null;
}

/** The value of a custom attribute; `null` and `undefined` count as missing. */
export type AttributeValue = string | number | boolean | null | undefined;

/** Matches every object but lists. */
interface NoList {
  readonly [Symbol.iterator]?: never;
}

/**
 * The attributes of the user, tenant or request for which a flag is evaluated.
 *
 * A value that the server would reject (a type other than the declared one, or a number that is not finite) counts as
 * missing, and so does `null`. Only own properties count.
 */
export interface EvaluationContext<
  Custom extends object = Readonly<Record<string, AttributeValue>>,
> {
  /** The user's ID: an attribute for rules, and the bucketing key of `per_user` rollouts. */
  readonly userId?: string | null | undefined;
  /** The tenant's ID: an attribute for rules, and the bucketing key of `per_tenant` rollouts. */
  readonly tenantId?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly country?: string | null | undefined;
  /**
   * All other attributes for rules. They never replace one of the four above. Any object type works, including an
   * interface, if its members are strings, numbers or booleans.
   */
  readonly customAttributes?:
    | ({ readonly [Name in keyof Custom]: AttributeValue } & NoList)
    | null
    | undefined;
}

/**
 * The registered flags, by key. Augment this interface to make a misspelled key a compile-time error. The packages for
 * frameworks, such as `@pennon/react`, then accept no other key; the client itself accepts any.
 *
 * ```ts
 * declare module "@pennon/core" {
 *   interface RegisteredFlags {
 *     new_checkout: boolean;
 *   }
 * }
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications add the members.
export interface RegisteredFlags {}

/** The key of a flag: a registered one, or any string if none are registered. */
export type FlagKey = [keyof RegisteredFlags] extends [never] ? string : keyof RegisteredFlags;
