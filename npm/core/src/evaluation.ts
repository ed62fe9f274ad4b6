/** The step that decided an evaluation. */
export type Reason =
  | "flag_enabled"
  | "flag_disabled"
  | "flag_archived"
  | "targeting_rule"
  | "rollout";

/** What a flag is, and why. */
export interface Evaluation {
  readonly enabled: boolean;
  readonly reason: Reason;
}
