import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { afterEach, beforeEach, onTestFinished, vi } from "vitest";

/** The key of a public environment. */
export const key = `pnp_${"p".repeat(43)}`;

export const baseUrl = "https://flags.example.com";

/** Stands in for the page's network and its HTTP cache. */
export const network = vi.fn<(url: string, request: RequestInit) => Promise<Response>>();

/** Makes each test of a file believe that it runs in a web page. */
export function runInPage(): void {
  beforeEach(() => {
    vi.stubGlobal("document", {});
    vi.stubGlobal("fetch", network.mockReset());
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
}

/** Returns a client of the page that sends nothing on its own. */
export function clientOf(options: Partial<FeatureFlagsClientOptions> = {}): FeatureFlagsClient {
  const quiet = { pollIntervalMs: 0, reportUsage: false };
  const client = new FeatureFlagsClient({ sdkKey: key, baseUrl, ...quiet, ...options });
  onTestFinished(() => client.shutdown());
  return client;
}
