import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { flag } from "./scripted.ts";

const key = `pnp_${"p".repeat(43)}`;
const baseUrl = "https://flags.example.com";
const address = `${baseUrl}/sdk/v1/public/${key}`;
const ada = { userId: "ada" };

/** Stands in for the page's network and its HTTP cache. */
const network = vi.fn<(url: string, request: RequestInit) => Promise<Response>>();

beforeEach(() => {
  vi.stubGlobal("document", {});
  vi.stubGlobal("fetch", network.mockReset());
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Returns a response with one flag. */
function response(name: string, headers: Record<string, string> = {}): Response {
  const answer = { key: name, enabled: true, reason: "flag_enabled", ttlOverrideSeconds: null };
  const body = { flags: [{ ...flag(name), ...answer }] };
  return new Response(JSON.stringify(body), { headers: { ETag: `W/"${name}"`, ...headers } });
}

function clientOf(options: Partial<FeatureFlagsClientOptions> = {}): FeatureFlagsClient {
  const quiet = { pollIntervalMs: 0, reportUsage: false };
  const client = new FeatureFlagsClient({ sdkKey: key, baseUrl, ...quiet, ...options });
  onTestFinished(() => client.shutdown());
  return client;
}

/** Returns the requests, without what is the same for all. */
function requests() {
  return network.mock.calls.map(([url, { signal: _, ...request }]) => ({ url, ...request }));
}

describe("a page with a public key", () => {
  it("fetches the flags without a preflight request, through its cache", async () => {
    network.mockImplementation(async () => response("first"));
    const client = clientOf();
    await client.initialize();
    expect(client.isEnabled("first")).toBe(true);
    // The browser has confirmed the content with the service, and returns it from its cache: it need not be read.
    network.mockImplementation(async () => response("other", { ETag: 'W/"first"' }));
    await client.refresh();
    expect(client.isEnabled("first")).toBe(true);
    network.mockImplementation(async () => response("second"));
    await client.refresh();
    expect(client.isEnabled("second")).toBe(true);
    const url = `${address}/config?client=${encodeURIComponent("@pennon/core/0.1.0")}`;
    const request = { url, method: "GET", headers: {}, cache: "no-cache" };
    expect(requests()).toEqual([request, request, request]);
  });

  it("takes the document that the page has just preloaded", async () => {
    const preloaded = [`${baseUrl}/other`, `${address}/config?v=1`];
    vi.stubGlobal("document", { querySelectorAll: () => preloaded.map((href) => ({ href })) });
    const loads = vi.spyOn(performance, "getEntriesByName");
    onTestFinished(() => loads.mockRestore());
    network.mockImplementation(async () => response("first"));
    const first = async (loadedMsAgo: number | undefined) => {
      const [startTime, duration] = [performance.now() - 60_000, 60_000 - (loadedMsAgo ?? 0)];
      const load = { startTime, duration } as PerformanceEntry;
      loads.mockReturnValue(loadedMsAgo === undefined ? [] : [load]);
      const client = clientOf();
      await client.initialize();
      await client.refresh();
      expect(loads).toHaveBeenCalledWith(`${address}/config?v=1`);
      return requests()
        .splice(-2)
        .map(({ url, cache }) => [url, cache]);
    };
    const query = `client=${encodeURIComponent("@pennon/core/0.1.0")}`;
    const later = [`${address}/config?${query}`, "no-cache"];
    expect(await first(undefined)).toEqual([[preloaded[1], "default"], later]);
    expect(await first(9_000)).toEqual([[preloaded[1], "default"], later]);
    // A page that starts late would get old flags.
    expect(await first(11_000)).toEqual([later, later]);
  });

  it("reads a response without a tag again", async () => {
    network.mockImplementation(async () => response("first", { ETag: "" }));
    const client = clientOf();
    await client.initialize();
    network.mockImplementation(async () => response("second", { ETag: "" }));
    await client.refresh();
    expect(client.isEnabled("second")).toBe(true);
  });

  it("subtracts the time in a cache from the TTL", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    network.mockImplementation(async () => response("first", { Age: "20" }));
    const client = clientOf();
    await client.initialize();
    await vi.advanceTimersByTimeAsync(39_000);
    expect(network).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(network).toHaveBeenCalledTimes(2);
  });

  it("asks no cache for an older document than its stream has announced", async () => {
    const event = `data: {"etag":"W/\\"second\\""}\n\n`;
    const stream = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(event)),
    });
    network.mockImplementation(async (url) => {
      if (url.endsWith("/stream")) {
        return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
      }
      return response(url.includes("revision") ? "second" : "first");
    });
    const client = clientOf({ streaming: true });
    const changed = new Promise((resolve) => client.on("change", resolve));
    await client.initialize();
    await changed;
    expect(client.isEnabled("second")).toBe(true);
    const fetched = requests().filter(({ url }) => url.includes("/config"));
    const revisions = fetched.map(({ url }) => new URL(url).searchParams.get("revision"));
    expect(revisions).toEqual([null, 'W/"second"']);
  });

  it("sends its context as text, in the body", async () => {
    network.mockImplementation(async () => response("first"));
    const client = clientOf({ mode: "remote", context: ada });
    await client.initialize();
    expect(client.isEnabled("first")).toBe(true);
    await client.refresh();
    const url = `${address}/evaluate/all?client=${encodeURIComponent("@pennon/core/0.1.0")}`;
    const headers = { "Content-Type": "text/plain" };
    const body = JSON.stringify({ context: ada });
    const request = { url, method: "POST", headers, body, cache: "no-store" };
    expect(requests()).toEqual([request, request]);
  });
});

describe("the key stays in a header", () => {
  it.each<[string, Partial<FeatureFlagsClientOptions>]>([
    ["if it is the key of a server", { sdkKey: "pnk_test" }],
    ["with a transport of the application", { transport: { send: send } }],
  ])("%s", async (_, options) => {
    network.mockImplementation(async () => response("first"));
    const client = clientOf(options);
    await client.initialize();
    await client.refresh();
    const sdkKey = options.sdkKey ?? key;
    const [, second] = requests();
    expect(second?.url).toBe(`${baseUrl}/sdk/v1/config`);
    const headers = { Authorization: `Bearer ${sdkKey}`, "If-None-Match": 'W/"first"' };
    expect(second?.headers).toMatchObject(headers);
  });

  it("outside of pages", async () => {
    vi.stubGlobal("document", undefined);
    network.mockImplementation(async () => response("first"));
    await clientOf().initialize();
    expect(requests()[0]?.url).toBe(`${baseUrl}/sdk/v1/config`);
  });
});

async function send({ url, ...request }: { readonly url: string; readonly headers: HeadersInit }) {
  const { status, headers, body } = await fetch(url, request);
  return { status, headers, body: body === null ? "" : await new Response(body).text() };
}
