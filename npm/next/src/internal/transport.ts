import type { Transport } from "@pennon/core";

/** The `fetch` of Next.js, which holds the platform's `fetch` that it replaces. */
interface PatchedFetch {
  readonly _nextOriginalFetch?: typeof fetch;
}

/**
 * Sends requests that bypass the caches of Next.js. A client outlives the request that created it, but its timers run
 * in the scope of that request. There, the `fetch` of Next.js may return a cached response, in development even with
 * `no-store`.
 */
export const transport: Transport = {
  async send({ url, method, headers, body = null, signal }) {
    const response = await nativeFetch()(url, { method, headers, body, signal, cache: "no-store" });
    if (response.status === 200) {
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { status: 200, headers: response.headers, body: bytes };
    }
    await response.body?.cancel();
    return { status: response.status, headers: response.headers };
  },
  open: ({ url, headers, signal }) => nativeFetch()(url, { headers, signal, cache: "no-store" }),
};

function nativeFetch(): typeof fetch {
  return (fetch as PatchedFetch)._nextOriginalFetch ?? fetch;
}
