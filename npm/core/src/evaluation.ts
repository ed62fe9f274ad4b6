/** The step that decided an evaluation. */
export type Reason =
  | "flag_enabled"
  | "flag_disabled"
  | "flag_archived"
  | "targeting_rule"
  | "rollout"
  /** There is no such flag, and the client's `defaults` has a value for it. The service never says so. */
  | "default";

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
