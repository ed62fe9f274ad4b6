import type { EvaluationContext } from "../evaluation.js";
import type { TransportResponse } from "../transport.js";
import type { Settings } from "./settings.js";

/** False in the files for workers, from which the build removes what only pages need. */
declare const RUNS_IN_PAGES: boolean;

/** The maximum time since a config document was preloaded, in milliseconds. */
const MAX_PRELOAD_AGE_MS = 10_000;

/** The flags that a request asks for. */
interface Wanted {
  /** The context to evaluate all flags for; undefined to ask for the config document. */
  readonly context: EvaluationContext | undefined;
  /** True to ask for a bootstrap for the context instead. */
  readonly isBootstrap?: boolean;
  /** The tag of the flags that the client has. */
  readonly etag: string | undefined;
  /** The tag that the stream has announced. */
  readonly announced: string | undefined;
}

/** Requests the flags. */
export async function fetchFlags(
  settings: Settings,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Reply> {
  const { transport, isPublicPage } = settings;
  if (RUNS_IN_PAGES && isPublicPage) {
    const reply = toReply(await transport.send({ ...pageRequest(settings, wanted), signal }));
    // A browser answers from its cache if the server confirms the content, and does not tell.
    const isUnchanged = reply.status === 200 && !!reply.etag && reply.etag === wanted.etag;
    return isUnchanged ? { ...reply, status: 304 } : reply;
  }
  return toReply(await transport.send({ ...flagRequest(settings, wanted), signal }));
}

function flagRequest(settings: Settings, wanted: Wanted) {
  const { context, etag } = wanted;
  const headers = {
    ...headersOf(settings),
    ...(context !== undefined && { "Content-Type": "application/json" }),
    ...(etag !== undefined && { "If-None-Match": etag }),
  };
  return { ...methodFor(context), url: urlOf(settings, pathFor(wanted)), headers };
}

/**
 * Returns a request that needs no preflight request from a page of another origin: it has the public key in its path
 * and no header of its own. The browser's cache revalidates the config document, unless the page has just preloaded it.
 */
function pageRequest(settings: Settings, wanted: Wanted) {
  const { context, etag, announced } = wanted;
  const { clientName } = settings;
  const url = publicUrlOf(settings, pathFor(wanted));
  const query = new URLSearchParams({ client: clientName });
  if (context !== undefined) {
    return {
      ...methodFor(context),
      url: `${url}?${query}`,
      headers: { "Content-Type": "text/plain" },
    };
  }
  const isFirst = etag === undefined && announced === undefined;
  const preloaded = isFirst ? preloadedUrl(url) : undefined;
  if (announced !== undefined) {
    // No cache has an older document under this address.
    query.set("revision", announced);
  }
  return {
    ...methodFor(context),
    url: preloaded ?? `${url}?${query}`,
    headers: {},
    cache: preloaded === undefined ? ("no-cache" as const) : ("default" as const),
  };
}

/** Returns the address of a document that the page has just preloaded with a link to `url`, with or without a query. */
function preloadedUrl(url: string): string | undefined {
  const links = document.querySelectorAll?.<HTMLLinkElement>("link[rel=preload][as=fetch]") ?? [];
  const href = [...links].map((link) => link.href).find((href) => href.startsWith(url));
  const load = href && performance.getEntriesByName(href)[0];
  const isOld = load && performance.now() - load.startTime - load.duration > MAX_PRELOAD_AGE_MS;
  return isOld ? undefined : href;
}

function methodFor(context: EvaluationContext | undefined) {
  return context === undefined
    ? { method: "GET" as const }
    : { method: "POST" as const, body: JSON.stringify({ context }) };
}

function pathFor({ context, isBootstrap }: Wanted): string {
  if (context === undefined) {
    return "config";
  }
  return isBootstrap ? "bootstrap" : "evaluate/all";
}

export function urlOf({ baseUrl }: Settings, path: string): string {
  return `${baseUrl}/sdk/v1/${path}`;
}

/** Returns an address that contains the key, which must be that of a public environment. */
export function publicUrlOf(settings: Settings, path: string): string {
  return urlOf(settings, `public/${encodeURIComponent(settings.sdkKey)}/${path}`);
}

/** Returns the headers of every request. */
export function headersOf({ sdkKey, clientName }: Settings): Record<string, string> {
  return {
    Authorization: `Bearer ${sdkKey}`,
    Accept: "application/json",
    "X-Pennon-Client": clientName,
  };
}

/** Returns the body as text. */
export function textOf({ body }: Pick<Reply, "body">): string {
  return typeof body === "string" ? body : new TextDecoder().decode(body);
}

/** The parts of a response that the client reads. */
export interface Reply {
  readonly status: number;
  readonly etag: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** The time that a cache has kept the response, in milliseconds. */
  readonly ageMs: number;
  readonly body: string | Uint8Array;
}

/** Reads the result of a transport, which may be the application's own. Throws if it is not a response. */
function toReply({ status, headers, body }: TransportResponse): Reply {
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
    ageMs: 1_000 * (Number(headers.get("Age")) || 0),
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
