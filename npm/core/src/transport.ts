/** A request for a transport to send. */
export interface TransportRequest {
  /** GET fetches the configuration; POST has a body, and asks for an evaluation or reports usage. */
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, where there is one. */
  readonly body?: string | undefined;
  /** Whether it should reach the service even if the page goes away meanwhile. */
  readonly keepalive?: boolean | undefined;
  /** Aborted when the answer is not wanted any longer: after a time-out, and at shutdown. */
  readonly signal: AbortSignal;
}

/** What came back. A `Response` of `fetch` has the first two. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null | undefined };
  /** The body of a 200, as text or as its UTF-8 bytes. Of other answers the client reads no body. */
  readonly body?: string | Uint8Array | null | undefined;
}

/** What came back, if it goes on coming. A `Response` of `fetch` is one. */
export interface TransportStream {
  readonly status: number;
  readonly headers: { get(name: string): string | null | undefined };
  readonly body: ReadableStream<Uint8Array> | null;
}

/** How requests reach the service. A rejected promise counts as a service out of reach; the client retries by itself. */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
  /** Resolves when the head of the answer is there. Wanted by the option `streaming` only; without it the client polls. */
  open?(request: TransportRequest): Promise<TransportStream>;
}

/** The default: the platform's `fetch`. */
export const fetchTransport = {
  async send({ method, url, headers, body, keepalive, signal }) {
    const response = await fetch(url, {
      method,
      headers,
      signal,
      cache: "no-store",
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
  open: ({ url, headers, signal }) => fetch(url, { headers, signal, cache: "no-store" }),
} satisfies Transport;
