import type { ErrorCode } from "../errors.js";
import type { Reason } from "../evaluation.js";
import type { TransportResponse } from "../transport.js";

/** An evaluation by the service, or why there is none. */
export type Answer =
  | { readonly enabled: boolean; readonly reason: Reason }
  | { readonly code: ErrorCode; readonly detail: string; readonly cause?: unknown };

/** Asks the service for one evaluation. Never rejects. */
export async function askRemotely(
  key: string,
  context: unknown,
  send: (body: string) => Promise<TransportResponse>,
): Promise<Answer> {
  try {
    const { status, body } = await send(JSON.stringify({ flagKey: key, context }));
    if (status === 404) {
      return { code: "FLAG_NOT_FOUND", detail: "there is no such flag in this environment" };
    }
    return status === 200 ? toAnswer(body) : failed(`the service answered with status ${status}`);
  } catch (cause) {
    return failed("the service could not be asked", cause);
  }
}

function toAnswer(body: TransportResponse["body"]): Answer {
  try {
    const text = typeof body === "string" ? body : new TextDecoder().decode(body ?? undefined);
    const { enabled, reason } = JSON.parse(text);
    if (typeof enabled === "boolean" && typeof reason === "string") {
      return { enabled, reason: reason as Reason };
    }
  } catch {
    // What cannot be read is no answer either.
  }
  return failed("the service answered with something that is no evaluation");
}

function failed(detail: string, cause: unknown = new Error(detail)): Answer {
  return { code: "EVALUATION_FAILED", detail, cause };
}
