import { FeatureFlagsClient, FeatureFlagsError } from "@pennon/core";
import { describe, expect, it, vi } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { errorWith } from "../../test-kit/errors.ts";
import { exactTimers } from "../../test-kit/exact-timers.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  flagWithRule,
  held,
  malformed,
  ScriptedServer,
  status,
  unreachable,
} from "../../test-kit/scripted.ts";

const on = configuration([flag("beta")], 'W/"on"');
const off = configuration([flag("beta", false)], 'W/"off"');

exactTimers();

describe("initialize", () => {
  it("sends the key, becomes ready and emits an event", async () => {
    const server = new ScriptedServer(on);
    const client = clientFor(server, { baseUrl: "https://flags.example.com/pennon/" });
    const events = eventsOf(client);
    await client.initialize();
    expect(server.requests).toMatchObject([
      {
        method: "GET",
        url: "https://flags.example.com/pennon/sdk/v1/config",
        headers: { Authorization: "Bearer pnk_test" },
      },
    ]);
    expect(client.isReady()).toBe(true);
    expect(events).toEqual(["ready"]);
  });

  it("shares one promise between concurrent calls", async () => {
    const server = new ScriptedServer(on);
    const client = clientFor(server);
    const first = client.initialize();
    expect(client.initialize()).toBe(first);
    await first;
    await client.initialize();
    expect(server.requests).toHaveLength(1);
  });

  it("accepts a timeoutMs that is too long for a timer", async () => {
    const client = clientFor(new ScriptedServer(on));
    const initialized = client.initialize({ timeoutMs: 2 ** 31 });
    await vi.advanceTimersByTimeAsync(10);
    await initialized;
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("fails with a cause after all retries, and can then be repeated", async () => {
    const server = new ScriptedServer(unreachable());
    const client = clientFor(server, { retries: 1 });
    const events = eventsOf(client);
    const failure = client.initialize().catch((error: unknown) => error);
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(1_000);
    const error = await failure;
    expect(error).toBeInstanceOf(FeatureFlagsError);
    expect(error).toMatchObject({
      code: "INITIALIZATION_FAILED",
      cause: expect.objectContaining({ message: "fetch failed" }),
    });
    expect(server.requests).toHaveLength(2);
    expect(client.isReady()).toBe(false);
    expect(() => client.isEnabled("beta")).toThrow(errorWith("NOT_INITIALIZED"));

    server.respondWith(on);
    await client.initialize();
    expect(client.isEnabled("beta")).toBe(true);
    expect(events).toEqual(["ready"]);
  });

  it("does not try again with a key that was refused", async () => {
    const server = new ScriptedServer(status(401));
    const client = clientFor(server);
    await expect(client.initialize()).rejects.toThrow("sdkKey");
    expect(server.requests).toHaveLength(1);
  });

  it("starts from a cache that another client filled, if the server is unreachable", async () => {
    const cache = new Map();
    await readyClient(new ScriptedServer(on), { cache });

    vi.setSystemTime(Date.now() + 50_000);
    const server = new ScriptedServer(status(400 + 29), unreachable());
    const client = clientFor(server, { cache, retries: 1 });
    const events = eventsOf(client);
    const initialized = client.initialize();
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(1_000);
    await initialized;
    expect(events).toEqual(["ready"]);
    expect(client.isReady()).toBe(true);
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.evaluate("beta", { userId: "ada" }).enabled).toBe(true);

    await vi.advanceTimersByTimeAsync(10_000);
    expect(() => client.isEnabled("beta")).toThrow(errorWith("FLAG_NOT_FOUND"));
  });

  it("does not start from values that are too old", async () => {
    const cache = new Map();
    await readyClient(new ScriptedServer(on), { cache });
    vi.setSystemTime(Date.now() + 60_000);
    const server = new ScriptedServer(malformed());
    const client = clientFor(server, { cache });
    await expect(client.initialize()).rejects.toEqual(errorWith("INITIALIZATION_FAILED"));
  });
});

describe("refresh", () => {
  it("emits no change for another TTL alone", async () => {
    const short = configuration([flag("beta", true, { ttlOverrideSeconds: 5 })], 'W/"2"');
    const client = clientFor(new ScriptedServer(on, short));
    const events = eventsOf(client);
    await client.initialize();
    await client.refresh();
    expect(events).toEqual(["ready", "refresh:start", "refresh:success"]);
  });

  it("fetches changes, with the tag of the known configuration", async () => {
    const server = new ScriptedServer(on, off, status(304));
    const client = clientFor(server);
    const events = eventsOf(client);
    await client.initialize();
    await client.refresh();
    expect(client.isEnabled("beta")).toBe(false);
    await client.refresh();
    expect(client.isEnabled("beta")).toBe(false);
    expect(server.tags).toEqual([undefined, 'W/"on"', 'W/"off"']);
    expect(events).toEqual([
      "ready",
      "refresh:start",
      "change beta",
      "refresh:success",
      "refresh:start",
      "refresh:success",
    ]);
  });

  it("shares one request between concurrent calls", async () => {
    const server = new ScriptedServer(on);
    const client = await readyClient(server);
    await Promise.all([client.refresh(), client.refresh(), client.refresh()]);
    expect(server.requests).toHaveLength(2);
  });

  it("fails after all retries, emits an event, and keeps flags and tag", async () => {
    const server = new ScriptedServer(on, malformed());
    const client = clientFor(server);
    const events = eventsOf(client);
    const errors: unknown[] = [];
    client.on("refresh:error", ({ error }) => errors.push(error));
    await client.initialize();
    const refreshed = expect(client.refresh()).rejects.toEqual(errorWith("REFRESH_FAILED"));
    await vi.advanceTimersByTimeAsync(10_000);
    await refreshed;
    expect(server.requests).toHaveLength(5);
    expect(errors).toEqual([errorWith("REFRESH_FAILED")]);
    expect(events).toEqual(["ready", "refresh:start", "refresh:error"]);
    expect(client.isEnabled("beta")).toBe(true);
    server.respondWith(status(304));
    await client.refresh();
    expect(server.tags.at(-1)).toBe('W/"on"');
  });

  it("logs a failure", async () => {
    const logger = new LogRecorder();
    const client = await readyClient(new ScriptedServer(on, status(404)), { logger });
    await expect(client.refresh()).rejects.toThrow("404");
    expect(logger.lines).toEqual([expect.stringMatching(/^error: .* 404/)]);
  });

  it("is refused before initialize()", async () => {
    const client = clientFor(new ScriptedServer(on));
    await expect(client.refresh()).rejects.toEqual(errorWith("NOT_INITIALIZED"));
  });

  it("removes flags that have disappeared", async () => {
    const server = new ScriptedServer(on, configuration([flag("other")]));
    const client = await readyClient(server);
    await client.refresh();
    expect(() => client.isEnabled("beta")).toThrow(errorWith("FLAG_NOT_FOUND"));
    expect(client.isEnabled("other")).toBe(true);
  });

  it("never lets an older response overwrite a newer one", async () => {
    const slow = held();
    const older = configuration([flag("beta"), flagWithRule("ruled", "FR")], 'W/"older"');
    const newer = configuration([flag("beta", false), flagWithRule("ruled", "FI")], 'W/"newer"');
    const server = new ScriptedServer(older, slow.answer, newer);
    const client = await readyClient(server);
    const refreshed = client.refresh();
    await vi.advanceTimersByTimeAsync(3_000 + 1_000);
    await refreshed;
    expect(server.requests[1]?.signal.aborted).toBe(true);
    expect(client.isEnabled("beta")).toBe(false);
    await slow.release(older);
    await vi.advanceTimersByTimeAsync(0);
    expect(client.isEnabled("beta")).toBe(false);
    expect(client.evaluate("ruled", { country: "FR" }).reason).toBe("flag_enabled");
  });

  it("respects Retry-After in seconds and as a date", async () => {
    vi.setSystemTime("2026-01-01T00:00:00Z");
    const inTenSeconds = () => new Date(Date.now() + 10_000).toUTCString();
    for (const retryAfter of [() => "10", inTenSeconds]) {
      const tooMany = status(429, { "Retry-After": retryAfter() });
      const server = new ScriptedServer(on, tooMany, off);
      const client = await readyClient(server);
      const refreshed = client.refresh();
      await vi.advanceTimersByTimeAsync(9_999);
      expect(server.requests).toHaveLength(2);
      await vi.advanceTimersByTimeAsync(1);
      await refreshed;
      expect(server.requests).toHaveLength(3);
    }
  });
});

describe("polling", () => {
  it("follows the server, one request at a time", async () => {
    const slow = held();
    const server = new ScriptedServer(on, slow.answer, off);
    const client = await readyClient(server, { pollIntervalMs: 1_000, timeoutMs: 60_000 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(server.requests).toHaveLength(2);
    await slow.release(status(304));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.requests).toHaveLength(3);
    expect(client.isEnabled("beta")).toBe(false);
  });

  it("continues after failures", async () => {
    const server = new ScriptedServer(on, status(404), status(404), off);
    const client = await readyClient(server, { pollIntervalMs: 1_000 });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(client.isEnabled("beta")).toBe(false);
  });

  it("continues if initialize() is called again", async () => {
    const server = new ScriptedServer(on);
    const client = await readyClient(server, { pollIntervalMs: 10_000 });
    await client.initialize({ timeoutMs: 1_000 });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(server.requests).toHaveLength(4);
  });

  it("is off at 0", async () => {
    const server = new ScriptedServer(on);
    await readyClient(server);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(server.requests).toHaveLength(1);
  });
});

describe("the TTL", () => {
  it("causes one refresh in the background, and expires a flag only after that has failed", async () => {
    const slow = held();
    const server = new ScriptedServer(on, slow.answer);
    const client = await readyClient(server, { timeoutMs: 60_000 });
    await vi.advanceTimersByTimeAsync(61_000);
    expect(server.requests).toHaveLength(2);
    expect(client.isEnabled("beta")).toBe(true);
    await slow.release(status(404));
    await vi.advanceTimersByTimeAsync(0);
    expect(() => client.isEnabled("beta")).toThrow(errorWith("FLAG_NOT_FOUND"));
    expect(client.read("beta")).toBeUndefined();
    server.respondWith(status(304));
    await client.refresh();
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("changes a flag that expires only once, even if it is then gone", async () => {
    const flags = [flag("short", true, { ttlOverrideSeconds: 5 }), flag("beta")];
    const server = new ScriptedServer(configuration(flags), status(404), on);
    const client = await readyClient(server);
    const changes = vi.fn();
    client.on("change", ({ flags }) => changes(...flags));
    await vi.advanceTimersByTimeAsync(5_000);
    await client.refresh();
    expect(client.read("short")).toBeUndefined();
    expect(changes.mock.calls).toEqual([["short"]]);
  });

  it("is renewed by a response without changes", async () => {
    const server = new ScriptedServer(on, status(304), status(404));
    const client = await readyClient(server);
    await vi.advanceTimersByTimeAsync(50_000);
    await client.refresh();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(client.isEnabled("beta")).toBe(true);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(client.read("beta")).toBeUndefined();
  });

  it("is overridden by the flag's configuration", async () => {
    const flags = [flag("short", true, { ttlOverrideSeconds: 5 }), flag("usual")];
    const server = new ScriptedServer(configuration(flags), status(404));
    const client = await readyClient(server);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(client.read("short")).toBeUndefined();
    expect(client.read("usual")).toBeDefined();
  });

  it("is in milliseconds, with one warning if it is suspicious", async () => {
    const lines = (options: object) => {
      const logger = new LogRecorder();
      new FeatureFlagsClient({ sdkKey: "pnk_test", logger, ...options });
      return logger.lines;
    };
    expect(lines({ cacheTtlMs: 30 })).toEqual([expect.stringContaining("less than a second")]);
    expect(lines({ cacheTtlSeconds: 30 })).toEqual([expect.stringContaining("milliseconds")]);
    expect(lines({ cacheTtlSeconds: 20_000 })).toEqual([expect.stringContaining("pollIntervalMs")]);
    expect(lines({ pollIntervalMs: 999 })).toEqual([expect.stringContaining("pollIntervalMs")]);
    expect(lines({ pollIntervalMs: 1_000 })).toEqual([]);
    expect(lines({ pollIntervalMs: 0 })).toEqual([]);
    expect(lines({})).toEqual([]);
  });
});

describe("the caller's cache", () => {
  it("loses flags that disappear, and those that expire", async () => {
    const cache = new Map();
    const both = configuration([flag("beta"), flag("other")]);
    const server = new ScriptedServer(both, on, status(401));
    const client = await readyClient(server, { cache, staleIfError: true });
    expect([...cache.keys()]).toEqual(["beta", "other", ":index"]);
    await client.refresh();
    expect([...cache.keys()]).toEqual(["beta", ":index"]);
    await vi.advanceTimersByTimeAsync(61_000);
    expect([...cache.keys()]).toEqual([":index"]);
  });

  it("holds the TTL of each flag, by default the client's", async () => {
    const cache = new Map();
    const flags = [flag("short", true, { ttlOverrideSeconds: 5 }), flag("usual")];
    const server = new ScriptedServer(configuration(flags));
    await readyClient(server, { cache, cacheTtlMs: 90_000 });
    expect(cache.get("short")).toMatchObject({ ttlMs: 5_000 });
    expect(cache.get("usual")).toMatchObject({ ttlMs: 90_000 });
  });

  it("expires in time even if the clock was set back", async () => {
    const cache = new Map();
    await readyClient(new ScriptedServer(on), { cache });
    vi.setSystemTime(Date.now() - 3_600_000);
    const server = new ScriptedServer(unreachable());
    const client = clientFor(server, { cache, retries: 1 });
    const initialized = client.initialize();
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(1_000);
    await initialized;
    expect(client.isEnabled("beta")).toBe(true);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(client.read("beta")).toBeUndefined();
  });
});

describe("shutdown", () => {
  it("settles a call of the same tick, which has not sent a request yet", async () => {
    const server = new ScriptedServer(on);
    const client = await readyClient(server, { pollIntervalMs: 0 });
    const calls = [client.refresh(), client.initialize()];
    await client.shutdown();
    expect(await Promise.allSettled(calls)).toMatchObject([
      { status: "rejected", reason: errorWith("NOT_INITIALIZED") },
      { status: "rejected", reason: errorWith("INITIALIZATION_FAILED") },
    ]);
  });

  it("aborts pending requests, and nothing happens afterwards", async () => {
    const slow = held();
    const server = new ScriptedServer(on, slow.answer);
    const client = clientFor(server, { pollIntervalMs: 1_000 });
    const events = eventsOf(client);
    await client.initialize();
    const refreshed = client.refresh();
    await server.requested(2);
    await Promise.all([
      client.shutdown(),
      expect(refreshed).rejects.toEqual(errorWith("NOT_INITIALIZED")),
    ]);
    expect(server.requests[1]?.signal.aborted).toBe(true);
    await slow.release(off);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(events).toEqual(["ready", "refresh:start", "shutdown"]);
    expect(server.requests).toHaveLength(2);
    expect(client.isReady()).toBe(false);
    expect(() => client.isEnabled("beta")).toThrow(errorWith("NOT_INITIALIZED"));
    expect(client.read("beta")).toBeUndefined();
  });

  it("ends a client in any state, permanently", async () => {
    const unborn = clientFor(new ScriptedServer(on));
    const events = eventsOf(unborn);
    await unborn.shutdown();
    await unborn.shutdown();
    await expect(unborn.initialize()).rejects.toEqual(errorWith("INITIALIZATION_FAILED"));
    expect(events).toEqual(["shutdown"]);

    const server = new ScriptedServer(on);
    const loading = clientFor(server);
    const initialized = expect(loading.initialize()).rejects.toEqual(
      errorWith("INITIALIZATION_FAILED"),
    );
    await loading.shutdown();
    await initialized;
    await vi.dynamicImportSettled();
    expect(server.requests).toEqual([]);
    expect(loading.isReady()).toBe(false);
  });

  it("clears the caller's cache, which holds plain values before", async () => {
    const cache = new Map();
    vi.setSystemTime("2026-01-01T00:00:00Z");
    const flags = [flag("beta"), flag("short", false, { ttlOverrideSeconds: 5 })];
    const server = new ScriptedServer(configuration(flags));
    const client = await readyClient(server, { cache });
    expect(Object.fromEntries(cache)).toEqual({
      beta: { enabled: true, reason: "flag_enabled", targeted: false, ttlMs: 60_000 },
      short: { enabled: false, reason: "flag_disabled", targeted: false, ttlMs: 5_000 },
      ":index": {
        keys: ["beta", "short"],
        source: "pnk_test http://127.0.0.1:3000",
        confirmedAt: Date.now(),
      },
    });
    await client.shutdown();
    expect(cache.size).toBe(0);
  });
});
