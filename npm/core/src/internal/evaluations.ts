import type { Evaluation, Reason } from "../evaluation.js";

/** In the order of `pennon_core::Reason`, and then the one that only clients give. */
const REASONS: readonly Reason[] = [
  "flag_enabled",
  "flag_disabled",
  "flag_archived",
  "targeting_rule",
  "rollout",
  "default",
];

/** Every possible evaluation, by the number that stands for it at the engine's border. */
export const EVALUATIONS: readonly Evaluation[] = REASONS.flatMap((reason) =>
  [false, true].map((enabled) => Object.freeze({ enabled, reason })),
);

/** The one object for this evaluation, unless the reason is one that a newer service gives. */
export function evaluationOf(enabled: boolean, reason: Reason): Evaluation {
  const known = EVALUATIONS[REASONS.indexOf(reason) * 2 + Number(enabled)];
  return known ?? Object.freeze({ enabled, reason });
}
