import { REASONS } from "../engine/protocol.js";
import type { Evaluation, Reason } from "../evaluation.js";

/** The reasons of the engine, and then the one that only clients give. */
const ALL_REASONS: readonly Reason[] = [...REASONS, "default"];

/** Every possible evaluation, by the number that stands for it at the engine's border. */
export const EVALUATIONS: readonly Evaluation[] = ALL_REASONS.flatMap((reason) =>
  [false, true].map((enabled) => Object.freeze({ enabled, reason })),
);

/** The one object for this evaluation, unless the reason is one that a newer service gives. */
export function evaluationOf(enabled: boolean, reason: Reason): Evaluation {
  const known = EVALUATIONS[ALL_REASONS.indexOf(reason) * 2 + Number(enabled)];
  return known ?? Object.freeze({ enabled, reason });
}
