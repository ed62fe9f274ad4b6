/** The step that decided an evaluation. */
export type Reason =
  | "flag_enabled"
  | "flag_disabled"
  | "flag_archived"
  | "targeting_rule"
  | "rollout"
  /** The flag does not exist, and the client's `fallbacks` has a value for it. The service never returns this reason. */
  | "fallback";

/**
 * What a flag is, and why. There is one frozen object for each possible evaluation, so two that are equal are the same
 * object.
 */
export interface Evaluation {
  readonly enabled: boolean;
  readonly reason: Reason;
}

/** How an evaluation came about: what the service answers at `/sdk/v1/explain`, but for the ids of rules. */
export interface Explanation extends Evaluation {
  /** The rules that were tried, in order; where a rule decided, it is the last one. */
  readonly rules: readonly RuleTrace[];
  /** The rollout, where the evaluation reached one. */
  readonly rollout: RolloutTrace | null;
}

/** One rule that was tried. */
export interface RuleTrace {
  readonly priority: number;
  readonly logic: "and" | "or";
  /** What it gives when it matches. */
  readonly value: boolean;
  readonly matched: boolean;
  /** All its conditions, also those after the deciding one. */
  readonly conditions: readonly ConditionTrace[];
}

/** One condition and what it met. It has the one value of its `valueType`. */
export interface ConditionTrace {
  readonly attribute: string;
  readonly operator: "==" | "!=" | ">" | "<" | ">=" | "<=";
  readonly valueType: "string" | "number" | "boolean";
  readonly valueString?: string;
  readonly valueInt?: number;
  readonly valueBool?: boolean;
  /** The attribute's value in the context. */
  readonly actual: string | number | boolean | null;
  readonly outcome: "held" | "did_not_hold" | "missing" | "other_type";
}

/** The rollout that was reached, and where the subject stood in it. */
export interface RolloutTrace {
  readonly strategy: "per_user" | "per_tenant";
  readonly percentage: number;
  /** The subject's bucket, 0 to 99; null without a bucketing value. */
  readonly bucket: number | null;
}

/** What a custom attribute may be; `null` and `undefined` count as absent. */
export type AttributeValue = string | number | boolean | null | undefined;

/**
 * The subject of an evaluation: its attributes.
 *
 * A value that the service would refuse (another type than the one named here, a number that is not finite) counts as
 * absent, and so does `null`. Only own properties are read.
 */
export interface EvaluationContext<
  Custom extends object = Readonly<Record<string, AttributeValue>>,
> {
  /** Targeting, and the bucketing of `per_user` rollouts. */
  readonly userId?: string | null | undefined;
  /** Targeting, and the bucketing of `per_tenant` rollouts. */
  readonly tenantId?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly country?: string | null | undefined;
  /**
   * Every other attribute that rules may ask for. It never stands in for one of the four above. Any object type will do,
   * an interface too, whose members are strings, numbers or booleans.
   */
  readonly customAttributes?:
    | { readonly [Name in keyof Custom]: AttributeValue }
    | null
    | undefined;
}

/**
 * The flags that there are, by key, if an application wants a misspelt key to be an error when it is compiled. Packages for
 * frameworks, such as `@pennon/react`, then take no other key; the client itself takes any.
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

/** The key of a flag: one of those that are registered, or any string where none are. */
export type FlagKey = [keyof RegisteredFlags] extends [never] ? string : keyof RegisteredFlags;
