import type { FeatureFlagsClientOptions } from "@pennon/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { eventsOf } from "../../test-kit/recorders.ts";
import { flag } from "../../test-kit/scripted.ts";
import { failToLoad, holdEngines } from "./engines.ts";
import { baseUrl, clientOf, fakeClock, hasAnswered, key, network, runInPage } from "./page.ts";

const address = `${baseUrl}/sdk/v1/public/${key}`;
const ada = { userId: "ada" };

runInPage();

/** Returns a response with one flag. */
function response(name: string, headers: Record<string, string> = {}): Response {
  const answer = { key: name, enabled: true, reason: "flag_enabled", ttlOverrideSeconds: null };
  const body = { flags: [{ ...flag(name), ...answer }] };
  return new Response(JSON.stringify(body), { headers: { ETag: `W/"${name}"`, ...headers } });
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
    // The browser has confirmed the content with the server, and returns it from its cache: it need not be read.
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
    fakeClock();
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

describe("a page in remote mode", () => {
  const remote = { mode: "remote", context: ada } as const;

  /** Responds with a flag that is named after the user. */
  function respondByUser(): void {
    network.mockImplementation(async (_, { body }) =>
      response(JSON.parse(String(body)).context.userId),
    );
  }

  it("serves the first evaluations before the engine has started", async () => {
    const start = holdEngines();
    network.mockImplementation(async () => response("first"));
    const client = clientOf(remote);
    const events = eventsOf(client);
    await client.initialize();
    expect(client.isReady()).toBe(true);
    expect(client.evaluate("first", ada)).toEqual({ enabled: true, reason: "flag_enabled" });
    expect(() => client.evaluate("none")).toThrow("does not exist");
    network.mockImplementation(async () => response("second"));
    start();
    await client.refresh();
    expect(client.isEnabled("second")).toBe(true);
    expect(network).toHaveBeenCalledTimes(2);
    expect(events).toEqual(["ready", "refresh:start", "change first second", "refresh:success"]);
  });

  it("expires the first evaluations after their TTL", async () => {
    fakeClock();
    const start = holdEngines();
    network.mockImplementation(async () => response("first"));
    const client = clientOf({ ...remote, cacheTtlMs: 10_000 });
    await client.initialize();
    const again = client.initialize();
    start();
    await again;
    network.mockRejectedValue(new TypeError("offline"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(client.read("first")).toBeUndefined();
  });

  it("asks for another context once, also before the engine has started", async () => {
    const start = holdEngines();
    respondByUser();
    const client = clientOf(remote);
    await client.initialize();
    const changed = client.setContext({ userId: "bob" });
    expect(client.isEnabled("ada")).toBe(true);
    start();
    await changed;
    expect(client.context).toEqual({ userId: "bob" });
    expect(client.isEnabled("bob")).toBe(true);
    expect(client.read("ada")).toBeUndefined();
    expect(network).toHaveBeenCalledTimes(2);
  });

  it("asks for another context at once, although its bootstrap would suffice until it is idle", async () => {
    vi.stubGlobal("requestIdleCallback", vi.fn());
    respondByUser();
    const flags = [{ key: "ada", enabled: true, reason: "flag_enabled", targeted: true } as const];
    const bootstrap = { version: 1, flags, subject: { context: ada, flags } } as const;
    const client = clientOf({ ...remote, bootstrap });
    const initialized = client.initialize();
    expect(client.isEnabled("ada")).toBe(true);
    await client.setContext({ userId: "bob" });
    expect(client.isEnabled("bob")).toBe(true);
    expect(client.context).toEqual({ userId: "bob" });
    await initialized;
  });

  it("does not serve evaluations for a context that has been replaced", async () => {
    const start = holdEngines();
    respondByUser();
    const first = response("ada");
    const read = vi.spyOn(first, "arrayBuffer");
    network.mockImplementationOnce(async () => first);
    const client = clientOf(remote);
    const initialized = client.initialize();
    await Promise.resolve();
    expect(network).toHaveBeenCalledTimes(1);
    const changed = client.setContext({ userId: "bob" });
    await hasAnswered(read);
    expect(client.isReady()).toBe(false);
    start();
    await Promise.all([initialized, changed]);
    expect(client.isEnabled("bob")).toBe(true);
    expect(network).toHaveBeenCalledTimes(2);
  });

  it("leaves failures to the engine, which retries", async () => {
    const start = holdEngines();
    const failure = new Response(null, { status: 503 });
    network.mockImplementationOnce(async () => failure);
    network.mockImplementation(async () => response("first"));
    const client = clientOf({ ...remote, retries: 2, retryDelayMs: 1 });
    const initialized = client.initialize();
    await hasAnswered(network);
    expect(client.isReady()).toBe(false);
    start();
    await initialized;
    expect(client.isEnabled("first")).toBe(true);
    expect(network).toHaveBeenCalledTimes(2);
  });

  it("asks again when its engine is loaded after a failure", async () => {
    fakeClock();
    const load = failToLoad(new Error("no such file"));
    network.mockImplementation(async () => response("first"));
    const client = clientOf(remote);
    await client.initialize();
    await vi.waitFor(() => expect(load).toHaveBeenCalledOnce());
    expect(client.isEnabled("first")).toBe(true);
    network.mockImplementation(async () => response("second"));
    const changed = new Promise((resolve) => client.on("change", resolve));
    await vi.advanceTimersByTimeAsync(30_000);
    await changed;
    expect(client.isEnabled("second")).toBe(true);
  });

  it("does not wait for a server that does not respond", async () => {
    network.mockReturnValue(new Promise(() => {}));
    const client = clientOf({ ...remote, retries: 1, timeoutMs: 10 });
    await expect(client.initialize()).rejects.toThrow("did not respond in time");
  });

  it("reports differences from its bootstrap after it is ready", async () => {
    holdEngines();
    network.mockImplementation(async () => response("first"));
    const flags = [{ key: "old", enabled: true, reason: "flag_enabled", targeted: false } as const];
    const client = clientOf({ ...remote, bootstrap: { version: 1, flags } });
    const events = eventsOf(client);
    expect(client.isEnabled("old")).toBe(true);
    await client.initialize();
    expect(events).toEqual(["ready", "change old first"]);
  });

  it("can be shut down before the engine has started", async () => {
    fakeClock();
    const start = holdEngines();
    network.mockImplementation(async () => response("first"));
    const client = clientOf({ ...remote, pollIntervalMs: 1_000 });
    const events = eventsOf(client);
    await client.initialize();
    await vi.waitFor(() => expect(WebAssembly.instantiate).toHaveBeenCalled(), { timeout: 4_000 });
    await client.shutdown();
    start();
    await hasAnswered(vi.mocked(WebAssembly.instantiate));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(events).toEqual(["ready", "shutdown"]);
    expect(network).toHaveBeenCalledTimes(1);
    await expect(client.refresh()).rejects.toMatchObject({ code: "NOT_INITIALIZED" });
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
