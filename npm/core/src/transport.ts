/** A request for a transport to send. */
export interface TransportRequest {
  readonly method: "GET";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
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

/** How requests reach the service. A rejected promise counts as a service out of reach; the client retries by itself. */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>;
}

/** The default: the platform's `fetch`. */
export const fetchTransport: Transport = {
  async send({ method, url, headers, signal }) {
    const response = await fetch(url, { method, headers, signal, cache: "no-store" });
    if (response.status === 200) {
      const body = new Uint8Array(await response.arrayBuffer());
      return { status: 200, headers: response.headers, body };
    }
    await response.body?.cancel();
    return { status: response.status, headers: response.headers };
  },
};
