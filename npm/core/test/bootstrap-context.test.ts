import type { FeatureFlagsClient, FeatureFlagsClientOptions } from "@pennon/core";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import { flag, flagWithRule } from "../../test-kit/scripted.ts";
import { holdEngines } from "./engines.ts";
import {
  baseUrl,
  clientOf as clientOfPage,
  fakeClock,
  hasAnswered,
  key,
  network,
  runInPage,
} from "./page.ts";

const french = { userId: "ada", country: "FR" };
const document = { flags: [flag("plain"), flagWithRule("ruled", "FR")] };

/** The response to the request for a bootstrap. */
const bootstrap = {
  version: 1,
  flags: [
    { key: "plain", enabled: true, reason: "flag_enabled", targeted: false },
    { key: "ruled", enabled: true, reason: "flag_enabled", targeted: true },
  ],
  subject: {
    context: french,
    flags: [{ key: "ruled", enabled: true, reason: "targeting_rule" }],
  },
};

/** The works that the page does when it is idle. */
const idle: (() => void)[] = [];

runInPage();

beforeEach(() => {
  vi.stubGlobal("requestIdleCallback", (work: () => void) => idle.push(work));
  idle.length = 0;
  respond(async () => json(bootstrap));
});

function json(body: unknown): Response {
  return new Response(JSON.stringify(body), { headers: { ETag: 'W/"1"' } });
}

/** Responds with the config document, and as given to the request for a bootstrap. */
function respond(bootstrap: () => Promise<Response>): void {
  network.mockImplementation(async (url) =>
    url.includes("/bootstrap") ? bootstrap() : json(document),
  );
}

function clientOf(options: Partial<FeatureFlagsClientOptions> = {}): FeatureFlagsClient {
  return clientOfPage({ bootstrapContext: french, ...options });
}

/** Does what the page does when it is idle. */
function beIdle(): void {
  for (const work of idle) {
    work();
  }
}

/** Returns a response that arrives when the returned function is called. */
function hold(): [Promise<Response>, (response: Response) => void] {
  let release = (_: Response) => {};
  const held = new Promise<Response>((resolve) => {
    release = resolve;
  });
  return [held, release];
}

/**
 * Holds the response to the request for a bootstrap back, until the returned function is called, which waits until the
 * client has read it.
 */
function holdBootstrap(): (response: Response) => Promise<void> {
  const [held, release] = hold();
  respond(() => held);
  return (response) => {
    const read = vi.spyOn(response, "arrayBuffer");
    release(response);
    return hasAnswered(read);
  };
}

/** Returns the last parts of the paths that were requested. */
function requested(): readonly (string | undefined)[] {
  return network.mock.calls.map(([url]) => new URL(url).pathname.split("/").pop());
}

describe("a page with a context for its bootstrap", () => {
  it("serves the server's evaluations before the engine is loaded", async () => {
    const start = holdEngines();
    const client = clientOf();
    const events = eventsOf(client);
    await client.initialize();
    expect(client.isReady()).toBe(true);
    expect(client.evaluate("ruled", { ...french }).reason).toBe("targeting_rule");
    expect(client.evaluate("plain", { country: "DE" }).reason).toBe("flag_enabled");
    expect(client.isEnabled("ruled")).toBe(true);
    expect(client.getValue("ruled")).toBe("flag_enabled");
    expect(client.isTargeted("ruled")).toBe(true);
    expect(() => client.evaluate("none", french)).toThrow("does not exist");
    expect(requested()[0]).toBe("bootstrap");
    start();
    await client.refresh();
    expect(client.evaluate("ruled", { country: "DE" }).reason).toBe("flag_enabled");
    const refreshed = ["refresh:start", "change ruled", "refresh:success"];
    expect(events).toEqual(["ready", ...refreshed]);
  });

  it("asks for it without a preflight request", async () => {
    await clientOf().initialize();
    const [url, { method, headers, body }] = network.mock.calls[0] ?? ["", {}];
    const query = `client=${encodeURIComponent("@pennon/core/0.1.0")}`;
    expect(url).toBe(`${baseUrl}/sdk/v1/public/${key}/bootstrap?${query}`);
    expect(method).toBe("POST");
    expect(headers).toEqual({ "Content-Type": "text/plain" });
    expect(body).toBe(JSON.stringify({ context: french }));
  });

  it("also asks for it with the key of a server", async () => {
    const client = clientOf({ sdkKey: "pnk_test" });
    await client.initialize();
    expect(network.mock.calls[0]?.[0]).toBe(`${baseUrl}/sdk/v1/bootstrap`);
    expect(client.evaluate("ruled", french).reason).toBe("targeting_rule");
  });

  it("loads the engine when it is idle", async () => {
    fakeClock();
    const client = clientOf();
    await client.initialize();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(requested()).toEqual(["bootstrap"]);
    const changed = new Promise((resolve) => client.on("change", resolve));
    beIdle();
    await changed;
    expect(requested()).toEqual(["bootstrap", "config"]);
    expect(client.evaluate("ruled", { country: "DE" }).reason).toBe("flag_enabled");
  });

  it("loads the engine when it is asked something else", async () => {
    const client = clientOf();
    await client.initialize();
    expect(client.read("ruled", { country: "DE" })).toBeUndefined();
    await new Promise((resolve) => client.on("change", resolve));
    expect(client.read("ruled", { country: "DE" })?.reason).toBe("flag_enabled");
    expect(requested()).toEqual(["bootstrap", "config"]);
  });

  it("does not ask for it again if it is initialized again", async () => {
    const client = clientOf();
    await client.initialize();
    await client.initialize();
    await client.initialize();
    expect(requested().filter((path) => path === "bootstrap")).toHaveLength(1);
  });

  it.each<[string, () => Promise<Response>]>([
    ["the server refuses", async () => new Response("", { status: 403 })],
    ["an older server has none", async () => new Response("", { status: 404 })],
    ["the server cannot be reached", async () => Promise.reject(new TypeError("offline"))],
    ["the response is not a bootstrap", async () => json({ version: 2, flags: [] })],
    ["the response is not JSON", async () => new Response("<html>")],
    ["the response is a config document", async () => json(document)],
  ])("starts with the engine if %s", async (_, response) => {
    respond(response);
    const client = clientOf();
    const events = eventsOf(client);
    await client.initialize();
    expect(client.evaluate("ruled", french).reason).toBe("targeting_rule");
    expect(client.evaluate("ruled", { country: "DE" }).reason).toBe("flag_enabled");
    expect(events).toEqual(["ready"]);
  });

  it("does not wait for a server that does not respond", async () => {
    network.mockReturnValue(new Promise(() => {}));
    const client = clientOf({ retries: 1, timeoutMs: 10 });
    await expect(client.initialize()).rejects.toThrow("did not respond in time");
    expect(requested()).toContain("bootstrap");
    const aborted = network.mock.calls.map(([, { signal }]) => signal?.aborted);
    expect(new Set(aborted)).toEqual(new Set([true]));
  });

  it("waits for the flags longer than `initialize()`, which has resolved", async () => {
    fakeClock();
    const [flags, arrive] = hold();
    network.mockImplementation(async (url) =>
      url.includes("/bootstrap") ? json(bootstrap) : flags,
    );
    const instantiate = vi.spyOn(WebAssembly, "instantiate");
    onTestFinished(() => instantiate.mockRestore());
    const client = clientOf();
    await client.initialize({ timeoutMs: 20 });
    const changed = new Promise((resolve) => client.on("change", resolve));
    beIdle();
    await hasAnswered(instantiate);
    // Less than the timeout of a request.
    await vi.advanceTimersByTimeAsync(2_000);
    expect(network.mock.lastCall?.[1].signal?.aborted).toBe(false);
    arrive(json(document));
    await changed;
    expect(client.evaluate("ruled", { country: "DE" }).reason).toBe("flag_enabled");
    expect(requested()).toEqual(["bootstrap", "config"]);
  });

  it("ignores a bootstrap that arrives after the flags", async () => {
    fakeClock();
    const arrive = holdBootstrap();
    const client = clientOf();
    const events = eventsOf(client);
    const initialized = client.initialize();
    await vi.advanceTimersByTimeAsync(1_000);
    await initialized;
    await arrive(json({ ...bootstrap, flags: [] }));
    expect(client.isEnabled("plain")).toBe(true);
    expect(events).toEqual(["ready"]);
  });

  it("keeps the bootstrap while the server cannot be reached, until the TTL", async () => {
    fakeClock();
    const client = clientOf({ retries: 1, cacheTtlMs: 10_000, logger: new LogRecorder() });
    await client.initialize();
    network.mockRejectedValue(new TypeError("offline"));
    beIdle();
    await vi.waitFor(() => expect(requested()).toContain("config"));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(client.evaluate("ruled", french).reason).toBe("targeting_rule");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(client.read("ruled", french)).toBeUndefined();
  });

  it.each([401, 404])(
    "expires it, and keeps trying, if the flags are refused with %i",
    async (code) => {
      fakeClock();
      const client = clientOf({
        cacheTtlMs: 10_000,
        pollIntervalMs: 5_000,
        logger: new LogRecorder(),
      });
      const events = eventsOf(client);
      await client.initialize();
      const refused = vi.fn(async () => new Response("", { status: code }));
      network.mockImplementation(refused);
      beIdle();
      await hasAnswered(refused);
      expect(client.isReady()).toBe(true);
      expect(client.error).toMatchObject({ code: "REFRESH_FAILED" });
      await vi.advanceTimersByTimeAsync(10_000);
      expect(client.read("plain")).toBeUndefined();
      respond(async () => json(bootstrap));
      await vi.advanceTimersByTimeAsync(60_000);
      await vi.waitFor(() => expect(client.isEnabled("plain")).toBe(true));
      expect(client.error).toBeUndefined();
      expect(events.slice(0, 3)).toEqual(["ready", "refresh:start", "refresh:error"]);
    },
  );

  it("keeps trying with a bootstrap that arrives while the flags are being fetched", async () => {
    fakeClock();
    const [held, arrive] = hold();
    const [flags, refuse] = hold();
    const config = vi.fn(() => flags);
    network.mockImplementation((url) => (url.includes("/bootstrap") ? held : config()));
    const instantiate = vi.spyOn(WebAssembly, "instantiate");
    onTestFinished(() => instantiate.mockRestore());
    const client = clientOf({ pollIntervalMs: 5_000, logger: new LogRecorder() });
    const initialized = client.initialize();
    await vi.advanceTimersByTimeAsync(1_000);
    await hasAnswered(instantiate);
    arrive(json(bootstrap));
    await initialized;
    expect(client.isEnabled("plain")).toBe(true);
    refuse(new Response("", { status: 404 }));
    await hasAnswered(config);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(config.mock.calls.length).toBeGreaterThan(1);
  });

  it("ignores a bootstrap that arrives after `initialize()` has failed", async () => {
    fakeClock();
    const [held, arrive] = hold();
    const refused = async () => new Response("", { status: 403 });
    network.mockImplementation((url) => (url.includes("/bootstrap") ? held : refused()));
    const client = clientOf();
    const events = eventsOf(client);
    const failed = expect(client.initialize()).rejects.toMatchObject({
      code: "INITIALIZATION_FAILED",
    });
    await vi.advanceTimersByTimeAsync(1_000);
    await failed;
    const response = json(bootstrap);
    const read = vi.spyOn(response, "arrayBuffer");
    arrive(response);
    await hasAnswered(read);
    expect(client.isReady()).toBe(false);
    expect(events).toEqual([]);
  });

  it("can be shut down before the bootstrap arrives", async () => {
    fakeClock();
    const arrive = holdBootstrap();
    const client = clientOf();
    const events = eventsOf(client);
    const initialized = client.initialize();
    await Promise.resolve();
    const ended = expect(initialized).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
    await client.shutdown();
    await arrive(json(bootstrap));
    await ended;
    beIdle();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(client.isReady()).toBe(false);
    expect(events).toEqual(["shutdown"]);
    expect(requested()).toEqual(["bootstrap"]);
  });
});

describe("the context for a bootstrap", () => {
  it("has no effect outside of pages", async () => {
    vi.stubGlobal("document", undefined);
    await clientOf().initialize();
    expect(requested()).toEqual(["config"]);
  });

  it("has no effect on a client that has a bootstrap", async () => {
    const client = clientOf({ bootstrap: document });
    await client.initialize();
    expect(requested()).toEqual([]);
  });

  it.each<[string, object]>([
    ["must be an object", { bootstrapContext: "ada" }],
    ['In mode: "remote", use context', { mode: "remote" }],
  ])("%s", (message, options) => {
    expect(() => clientOf(options)).toThrow(message);
  });
});
