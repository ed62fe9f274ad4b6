import {
  ErrorCode,
  type EvaluationContext,
  type ResolutionDetails,
  StandardResolutionReasons,
} from "@openfeature/core";
import type { FeatureFlagsClient, Reason } from "@pennon/core";
import { toPennonContext } from "./context.js";

/** OpenFeature's error codes, by the code of the error. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  FLAG_NOT_FOUND: ErrorCode.FLAG_NOT_FOUND,
  FLAG_UNSUPPORTED: ErrorCode.PARSE_ERROR,
  NOT_INITIALIZED: ErrorCode.PROVIDER_NOT_READY,
  INVALID_CONTEXT: ErrorCode.INVALID_CONTEXT,
};

/** The parameters of an evaluation by OpenFeature. */
export type EvaluationParameters<T> = [key: string, fallback: T, context: EvaluationContext];

/** Evaluates the flag for the context. On failure, returns `fallback` with the error. Never throws. */
export function resolve(
  client: FeatureFlagsClient,
  ...[key, fallback, context]: EvaluationParameters<boolean>
): ResolutionDetails<boolean> {
  try {
    const used = toPennonContext(context);
    // Unlike `evaluate`, `read` returns fallbacks even if the client has never reached the server.
    const { enabled, reason } = client.read(key, used) ?? client.evaluate(key, used);
    return {
      value: enabled,
      variant: enabled ? "on" : "off",
      reason: standardReason(client, key, reason),
      flagMetadata: { reason },
    };
  } catch (error) {
    const { code, message = String(error) } = error as { code: string; message?: string };
    const errorCode = CODES[code] ?? ErrorCode.GENERAL;
    return failed(fallback, isShutDown(client) ? ErrorCode.PROVIDER_FATAL : errorCode, message);
  }
}

/** Returns true if the client has been shut down. No other error of a client has this code. */
export function isShutDown({ error }: FeatureFlagsClient): boolean {
  return error?.code === "NOT_INITIALIZED";
}

/**
 * Does the same as `resolve`, but a client in remote mode answers for the context of its last successful request. The
 * reason is `STALE` while that is not the current context.
 */
export function resolveCurrent(
  client: FeatureFlagsClient,
  ...[key, fallback, context]: EvaluationParameters<boolean>
): ResolutionDetails<boolean> {
  // In the default mode, the client has no context of its own.
  const served = client.context as EvaluationContext | undefined;
  if (!served || isEvaluated(client, key, context)) {
    return resolve(client, key, fallback, context);
  }
  const details = resolve(client, key, fallback, served);
  return details.errorCode || details.flagMetadata?.reason === "fallback"
    ? details
    : { ...details, reason: StandardResolutionReasons.STALE };
}

/** Returns true if the client has an evaluation of the flag for the context, or if the context is invalid. */
function isEvaluated(client: FeatureFlagsClient, key: string, context: EvaluationContext): boolean {
  try {
    const evaluation = client.withContext(toPennonContext(context)).peek(key);
    return evaluation !== undefined && evaluation.reason !== "fallback";
  } catch {
    return true;
  }
}

/** Returns true if the client can evaluate all its flags for the context, for which a bootstrap suffices. */
export function hasEvaluations(client: FeatureFlagsClient, context: EvaluationContext): boolean {
  try {
    const { flags, subject } = client.withContext(toPennonContext(context)).snapshot();
    return (
      flags.some(({ reason }) => reason !== "fallback") &&
      flags.filter(({ targeted }) => targeted).length === subject?.flags.length
    );
  } catch {
    return false;
  }
}

/**
 * Returns the reason in OpenFeature's terms, as in `pennon_core::StandardReason`. `STATIC` evaluations may be cached
 * for every context, so a flag with rules has another reason, even if no rule matched.
 */
function standardReason(client: FeatureFlagsClient, key: string, reason: Reason): string {
  switch (reason) {
    case "flag_enabled":
      return client.isTargeted(key)
        ? StandardResolutionReasons.DEFAULT
        : StandardResolutionReasons.STATIC;
    case "flag_disabled":
    case "flag_archived":
      return StandardResolutionReasons.DISABLED;
    case "fallback":
      return StandardResolutionReasons.DEFAULT;
    case "rollout":
      return StandardResolutionReasons.SPLIT;
    case "targeting_rule":
      return StandardResolutionReasons.TARGETING_MATCH;
    default:
      // A reason of a newer server.
      reason satisfies never;
      return StandardResolutionReasons.UNKNOWN;
  }
}

/** Returns the result of an evaluation as a type other than boolean: `fallback`, with an error. */
export function resolveOtherType<T>(
  client: FeatureFlagsClient,
  ...[key, fallback, context]: EvaluationParameters<T>
): ResolutionDetails<T> {
  const {
    errorCode = ErrorCode.TYPE_MISMATCH,
    errorMessage = `All flags are booleans. Evaluate '${key}' as a boolean.`,
  } = resolve(client, key, false, context);
  return failed(fallback, errorCode, errorMessage);
}

function failed<T>(value: T, errorCode: ErrorCode, errorMessage: string): ResolutionDetails<T> {
  return { value, reason: StandardResolutionReasons.ERROR, errorCode, errorMessage };
}
