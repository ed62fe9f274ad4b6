import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { afterEach, beforeEach, expect, type Mock, onTestFinished, vi } from "vitest";

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

/** Fakes the clock of the page, but no other work: engines still load, and responses still arrive. */
export function fakeClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
}

/** Waits until this function of the platform has answered a client, and until the client has acted on the answer. */
export async function hasAnswered(spy: Mock): Promise<void> {
  await vi.waitFor(() => expect(spy).toHaveResolved(), { timeout: 4_000 });
  // A client acts in the same turn.
  await new Promise((resolve) => setImmediate(resolve));
}
