import type { ErrorCode } from "../errors.js";
import type { EvaluationContext, Reason } from "../evaluation.js";
import { textOf } from "../internal/exchange.js";
import type { TransportResponse } from "../transport.js";

/** An evaluation by the server, or the reason for its failure. */
export type RemoteResult =
  | { readonly enabled: boolean; readonly reason: Reason }
  | { readonly code: ErrorCode; readonly detail: string; readonly cause?: unknown };

/** Requests one evaluation from the server. Never rejects. */
export async function evaluateRemotely(
  key: string,
  context: EvaluationContext | undefined,
  send: (body: string) => Promise<TransportResponse>,
): Promise<RemoteResult> {
  try {
    const { status, headers, body } = await send(JSON.stringify({ flagKey: key, context }));
    if (status === 200) {
      return toResult(body);
    }
    if (status !== 404) {
      return failed(`the server responded with status ${status}${HINTS[status] ?? ""}`);
    }
    // Other servers, and other paths, respond with a page.
    const isFromServer = headers.get("content-type")?.includes("problem") ?? true;
    return isFromServer
      ? { code: "FLAG_NOT_FOUND", detail: "the flag does not exist in this environment" }
      : failed(`the server responded with status 404. ${CHECK_URL}`);
  } catch (cause) {
    return failed("the request to Pennon failed. See the cause.", cause);
  }
}

/** The likely cause of a status. */
const HINTS: Readonly<Record<number, string>> = {
  400: ". Pennon does not accept the context.",
  401: ". Use the current SDK key of the environment, and a baseUrl that does not redirect.",
  413: ". The context is too large.",
};

const CHECK_URL = "Check that baseUrl is the address of Pennon.";

function toResult(body: TransportResponse["body"]): RemoteResult {
  try {
    const { enabled, reason } = JSON.parse(textOf({ body: body ?? "" }));
    if (typeof enabled === "boolean" && typeof reason === "string") {
      return { enabled, reason: reason as Reason };
    }
  } catch {
    // An unreadable response counts as a failure too.
  }
  return failed(`the response is not an evaluation. ${CHECK_URL}`);
}

function failed(detail: string, cause: unknown = new Error(detail)): RemoteResult {
  return { code: "EVALUATION_FAILED", detail, cause };
}
