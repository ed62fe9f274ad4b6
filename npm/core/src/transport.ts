/** A request that a transport sends. */
export interface TransportRequest {
  /** GET fetches the configuration or opens the stream. POST requests evaluations or reports usage, with a body. */
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON body, if any. */
  readonly body?: string | undefined;
  /** True to send the request even if the page is closed. */
  readonly keepalive?: boolean | undefined;
  /** Aborted when the response is no longer wanted: after a timeout, and at shutdown. */
  readonly signal: AbortSignal;
}

/** A response. You can use the `status` and `headers` of a `fetch` `Response` unchanged, but not its body. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null | undefined };
  /**
   * The body of a response with status 200, as text or as UTF-8 bytes. The client ignores the body of any other
   * response.
   */
  readonly body?: string | Uint8Array | null | undefined;
}

/** A response with a streamed body. A `fetch` `Response` is one. */
export interface TransportStream {
  readonly status: number;
  readonly headers: { get(name: string): string | null | undefined };
  readonly body: ReadableStream<Uint8Array> | null;
}

/**
 * Sends requests to the server. A rejected promise means that the server is unreachable. Do not retry: the client
 * does.
 */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  /**
   * Resolves when the headers of the response have arrived. Only the option `streaming` uses it; without it, the client
   * polls.
   */
  open?(request: TransportRequest): Promise<TransportStream>;
}

/** A request that the HTTP cache may answer: by itself, or after it has asked the server (`no-cache`). */
interface CachedRequest extends TransportRequest {
  readonly cache?: "default" | "no-cache" | undefined;
}

/** False in the file for Cloudflare Workers, where `fetch` may lack the option `cache`, and caches no configuration. */
declare const HAS_HTTP_CACHE: boolean;

/** The default transport, which uses the platform's `fetch`. */
export const fetchTransport: Required<Transport> = {
  async send({ method, url, headers, body, keepalive, signal, cache }: CachedRequest) {
    const response = await fetch(url, {
      method,
      headers,
      signal,
      ...(HAS_HTTP_CACHE && { cache: cache ?? "no-store" }),
      ...(body !== undefined && { body }),
      ...(keepalive && { keepalive }),
    });
    if (response.status === 200) {
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { status: 200, headers: response.headers, body: bytes };
    }
    await response.body?.cancel();
    return { status: response.status, headers: response.headers };
  },
  open: ({ url, headers, signal }) =>
    fetch(url, { headers, signal, ...(HAS_HTTP_CACHE && { cache: "no-store" }) }),
};
