import {
  ErrorCode,
  type EvaluationContext,
  type ResolutionDetails,
  StandardResolutionReasons,
} from "@openfeature/core";
import type { FeatureFlagsClient, Reason } from "@pennon/core";
import { toSubject } from "./subject.js";

/** OpenFeature's words for our reasons, as `pennon_core::StandardReason` has them. */
const REASONS = {
  flag_enabled: StandardResolutionReasons.STATIC,
  flag_disabled: StandardResolutionReasons.DISABLED,
  flag_archived: StandardResolutionReasons.DISABLED,
  targeting_rule: StandardResolutionReasons.TARGETING_MATCH,
  rollout: StandardResolutionReasons.SPLIT,
  fallback: StandardResolutionReasons.DEFAULT,
} as const satisfies Record<Reason, string>;

/** OpenFeature's words for what can go wrong, by the code of the error. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  FLAG_NOT_FOUND: ErrorCode.FLAG_NOT_FOUND,
  FLAG_UNSUPPORTED: ErrorCode.PARSE_ERROR,
  NOT_INITIALIZED: ErrorCode.PROVIDER_NOT_READY,
  INVALID_CONTEXT: ErrorCode.INVALID_CONTEXT,
};

/** What OpenFeature asks of a provider. */
export type Question<T> = [key: string, fallback: T, context: EvaluationContext];

/** What the flag is for the subject of the context, or `fallback` and why there is no answer. Never throws. */
export function resolve(
  client: FeatureFlagsClient,
  ...[key, fallback, context]: Question<boolean>
): ResolutionDetails<boolean> {
  try {
    const { enabled, reason } = client.evaluate(key, toSubject(context));
    return {
      value: enabled,
      variant: enabled ? "on" : "off",
      reason: standardReason(client, key, reason),
      flagMetadata: { reason },
    };
  } catch (error) {
    const { code, message } = error as Partial<Record<"code" | "message", string>>;
    return failed(fallback, CODES[code ?? ""] ?? ErrorCode.GENERAL, message ?? String(error));
  }
}

/** Caches keep what is static for every context, so a flag with rules is not, even if none of them matched. */
function standardReason(client: FeatureFlagsClient, key: string, reason: Reason): string {
  return reason === "flag_enabled" && client.isTargeted(key)
    ? StandardResolutionReasons.DEFAULT
    : REASONS[reason];
}

/** The answer to whoever takes a flag for something else than a boolean: `fallback`, and why. */
export function resolveMistaken<T>(
  client: FeatureFlagsClient,
  ...[key, fallback, context]: Question<T>
): ResolutionDetails<T> {
  const { errorCode, errorMessage } = resolve(client, key, false, context);
  return failed(
    fallback,
    errorCode ?? ErrorCode.TYPE_MISMATCH,
    errorMessage ?? `The flag '${key}' is a boolean, as every flag of Pennon`,
  );
}

function failed<T>(value: T, errorCode: ErrorCode, errorMessage: string): ResolutionDetails<T> {
  return { value, reason: StandardResolutionReasons.ERROR, errorCode, errorMessage };
}
