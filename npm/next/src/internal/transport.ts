import type { Transport } from "@pennon/core";

/** The platform's `fetch`, by the name under which Next.js keeps it while its own is in the place. */
interface Replaced {
  readonly _nextOriginalFetch?: typeof fetch;
}

/**
 * Sends requests past Next's caches. A client outlives the request in which it was made, but its timers go on running in the
 * scope of that request: there Next's `fetch` may answer from what the request has remembered, in development even in spite
 * of `no-store`.
 */
export const transport: Transport = {
  async send({ url, method, headers, body = null, signal }) {
    const response = await plainFetch()(url, { method, headers, body, signal, cache: "no-store" });
    if (response.status === 200) {
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { status: 200, headers: response.headers, body: bytes };
    }
    await response.body?.cancel();
    return { status: response.status, headers: response.headers };
  },
  open: ({ url, headers, signal }) => plainFetch()(url, { headers, signal, cache: "no-store" }),
};

function plainFetch(): typeof fetch {
  return (fetch as Replaced)._nextOriginalFetch ?? fetch;
}
