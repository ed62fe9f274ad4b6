import { type ErrorCode, FeatureFlagsError } from "../errors.js";

/** A call that waits for the outcome of a request. */
export type Call = "initialize" | "refresh";

/** Why a request or a call failed, as the brain tells it, or the body where there is no brain. */
export type Failure =
  | {
      readonly kind:
        | "unreachable"
        | "timed-out"
        | "malformed"
        | "not-initialized"
        | "shut-down"
        | "no-engine";
    }
  | { readonly kind: "status"; readonly status: number };

/** The error for the caller. `thrown` is what the transport, or the engine, threw last. */
export function toError(call: Call, failure: Failure, thrown?: unknown): FeatureFlagsError {
  const detail = sentence(failure);
  const cause = thrownBy(failure) ? thrown : new Error(detail);
  return new FeatureFlagsError(code(call, failure), `${call}() failed: ${detail}`, { cause });
}

function thrownBy({ kind }: Failure): boolean {
  return kind === "unreachable" || kind === "no-engine";
}

function code(call: Call, { kind }: Failure): ErrorCode {
  if (call === "initialize") {
    return "INITIALIZATION_FAILED";
  }
  return kind === "not-initialized" || kind === "shut-down" ? "NOT_INITIALIZED" : "REFRESH_FAILED";
}

function sentence(failure: Failure): string {
  switch (failure.kind) {
    case "unreachable":
      return "the service could not be reached";
    case "timed-out":
      return "the service did not answer in time";
    case "malformed":
      return "the service answered with something that is no configuration (is baseUrl right?)";
    case "not-initialized":
      return "the client has not been initialized";
    case "shut-down":
      return "the client has been shut down";
    case "no-engine":
      return "the engine could not be started, or failed";
    case "status":
      return failure.status === 401
        ? "the service does not accept the sdkKey (status 401)"
        : `the service answered with status ${failure.status}`;
  }
}
