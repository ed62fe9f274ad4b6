import type { EvaluationContext } from "../evaluation.js";
import type { Settings } from "../options.js";
import type { TransportRequest, TransportResponse } from "../transport.js";

/** Returns a request for the evaluations of all flags for a context. */
export function evaluationRequest(
  settings: Settings,
  context: EvaluationContext,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): TransportRequest {
  return {
    method: "POST",
    url: urlOf(settings, "evaluate/all"),
    headers: { ...headersOf(settings), "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ context }),
    signal,
  };
}

/** Returns a GET request to the SDK API. */
export function requestFor(
  settings: Settings,
  path: "config" | "stream",
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): TransportRequest {
  return {
    method: "GET",
    url: urlOf(settings, path),
    headers: { ...headersOf(settings), ...headers },
    signal,
  };
}

export function urlOf({ baseUrl }: Settings, path: string): string {
  return `${baseUrl}/sdk/v1/${path}`;
}

/** Returns the headers of every request. */
export function headersOf({ sdkKey, clientName }: Settings): Record<string, string> {
  return {
    Authorization: `Bearer ${sdkKey}`,
    Accept: "application/json",
    "X-Pennon-Client": clientName,
  };
}

/** The parts of a response that the client reads. */
export interface Reply {
  readonly status: number;
  readonly etag: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly body: string | Uint8Array;
}

/** Reads the result of a transport, which may be the application's own. Throws if it is not a response. */
export function toReply({ status, headers, body }: TransportResponse): Reply {
  if (!Number.isInteger(status) || status < 100 || status > 599) {
    throw new TypeError(
      `The transport returned the status ${String(status)}, which is not an integer from 100 to 599`,
    );
  }
  const etag: unknown = headers.get("ETag");
  return {
    status,
    etag: typeof etag === "string" ? etag : undefined,
    retryAfterMs: parseRetryAfter(headers.get("Retry-After")),
    body: textOrBytes(body),
  };
}

/**
 * Returns a body as text or bytes. The bytes may belong to another realm, for example to a `Buffer` in a vm context.
 */
function textOrBytes(body: TransportResponse["body"]): string | Uint8Array {
  if (typeof body === "string" || body instanceof Uint8Array) {
    return body;
  }
  const view: unknown = body;
  return ArrayBuffer.isView(view)
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    : "";
}

/** Parses `Retry-After`, which is a number of seconds or a date. */
export function parseRetryAfter(retryAfter: string | null | undefined): number | undefined {
  if (!retryAfter) {
    return undefined;
  }
  const wait = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
