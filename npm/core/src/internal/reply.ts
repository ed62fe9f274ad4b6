import type { TransportResponse } from "../transport.js";

/** An answer of the service, as far as the client reads it. */
export interface Reply {
  readonly status: number;
  readonly etag: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly body: string | Uint8Array;
}

/** Reads what a transport brought, which may be anybody's; throws if that is no response at all. */
export function toReply({ status, headers, body }: TransportResponse): Reply {
  if (!Number.isInteger(status) || status < 100 || status > 599) {
    throw new TypeError(`The transport brought the status ${String(status)}`);
  }
  const etag: unknown = headers.get("ETag");
  return {
    status,
    etag: typeof etag === "string" ? etag : undefined,
    retryAfterMs: milliseconds(headers.get("Retry-After")),
    body: readable(body),
  };
}

/** A body as text or bytes. The bytes may be of another realm, such as those of a `Buffer` in a vm context. */
function readable(body: TransportResponse["body"]): string | Uint8Array {
  if (typeof body === "string" || body instanceof Uint8Array) {
    return body;
  }
  const view: unknown = body;
  return ArrayBuffer.isView(view)
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    : "";
}

/** `Retry-After` is a number of seconds or a date. */
export function milliseconds(retryAfter: string | null | undefined): number | undefined {
  if (!retryAfter) {
    return undefined;
  }
  const wait = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
