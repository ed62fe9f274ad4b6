import { EventEmitter } from "node:events";
import { runInNewContext } from "node:vm";
import {
  type Cache,
  type CacheEntry,
  consoleLogger,
  FeatureFlagsClient,
  type FeatureFlagsClientOptions,
  type InitializeOptions,
  type LifecycleEvent,
} from "@pennon/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  flagWithRule,
  optionsFor,
  ScriptedServer,
  status,
} from "../../test-kit/scripted.ts";

const on = configuration([flag("beta"), flagWithRule("ruled", "FR")]);
const broken = (): never => {
  throw new Error("broken");
};
const rejected = () => Promise.reject(new Error("broken later"));

/** A cache that outlives its client, like a file after its process is killed. */
function unclearable(entries: Map<string, CacheEntry>): Cache {
  return {
    get: (key) => entries.get(key),
    set: (key, entry) => entries.set(key, entry),
    delete: (key) => entries.delete(key),
    clear: () => {},
  };
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a plug-in that fails", () => {
  const logger = { debug: broken, info: broken, warn: broken, error: rejected };
  const cache = { get: broken, set: broken, delete: broken, clear: broken };
  const eventEmitter = { on: broken, emit: broken, removeAllListeners: broken };

  it("breaks neither reads nor polling", async () => {
    vi.useFakeTimers();
    const server = new ScriptedServer(on, broken, configuration([flag("beta", false)]));
    const client = clientFor(server, { logger, cache, eventEmitter, pollIntervalMs: 1_000 });
    client.on("ready", broken);
    await client.initialize();
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.isEnabled("ruled")).toBe(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(client.isEnabled("beta")).toBe(false);
  });

  it("may reject later, where it should not return a promise", async () => {
    const logger = new LogRecorder();
    const late = { get: rejected, set: rejected, delete: rejected, clear: rejected };
    const options = optionsFor(new ScriptedServer(on), { logger });
    // An unhandled rejection of a promise ends the process.
    const client = new FeatureFlagsClient({ ...options, cache: late as never });
    await client.initialize();
    await client.shutdown();
    expect(new Set(logger.lines)).toEqual(
      new Set(["error: The cache failed, so its content may be outdated"]),
    );
  });

  it("is logged", async () => {
    const logger = new LogRecorder();
    await readyClient(new ScriptedServer(on), {
      logger,
      cache,
      eventEmitter,
    });
    expect(new Set(logger.lines)).toEqual(
      new Set([
        "error: The cache failed, so its content may be outdated",
        "error: The event emitter threw or rejected",
      ]),
    );
  });

  it("does not affect other listeners", async () => {
    const logger = new LogRecorder();
    const client = clientFor(new ScriptedServer(on), { logger });
    client.on("ready", broken).on("ready", rejected as () => void);
    const events = eventsOf(client);
    await client.initialize();
    expect(events).toEqual(["ready"]);
    expect(logger.lines).toEqual([
      "error: A listener threw or rejected",
      "error: A listener threw or rejected",
    ]);
  });

  it("may return nonsense, which counts as an unreachable server or an invalid configuration", async () => {
    for (const nonsense of [
      undefined,
      {},
      { status: 200 },
      { status: "200", headers: new Headers() },
    ]) {
      const server = new ScriptedServer(() => nonsense as never);
      const client = clientFor(server, { retries: 1, retryDelayMs: 0 });
      await expect(client.initialize()).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
    }
  });

  it("may be of another realm", async () => {
    const logger = new LogRecorder();
    const flags = JSON.stringify({ flags: [flag("beta")] });
    // The bytes are a part of their buffer.
    const body = runInNewContext("Uint8Array.from(bytes).subarray(2, -2)", {
      bytes: new TextEncoder().encode(`[]${flags}[]`),
    });
    const server = new ScriptedServer(() => ({ status: 200, headers: new Headers(), body }));
    const reject = runInNewContext("async () => { throw 'refused' }");
    const foreign = { get: () => undefined, set: reject, delete: reject, clear: reject };
    const client = await readyClient(server, { cache: foreign, logger });
    expect(client.isEnabled("beta")).toBe(true);
    await client.shutdown();
    expect(new Set(logger.lines)).toEqual(
      new Set(["error: The cache failed, so its content may be outdated"]),
    );
  });

  it("may fail to write a cache, whose old flags are not confirmed then", async () => {
    const entries = new Map<string, CacheEntry>();
    let isFull = false;
    const full: Cache = {
      ...unclearable(entries),
      set: (key, entry) => (isFull && key === "beta" ? broken() : entries.set(key, entry)),
    };
    const off = configuration([flag("beta", false)], 'W/"2"');
    const server = new ScriptedServer(on, off, status(304));
    const client = await readyClient(server, { cache: full });
    isFull = true;
    await client.refresh();
    await client.refresh();
    const restart = async () => {
      const down = new ScriptedServer(status(302));
      const cache = new Map(entries);
      const restarted = await readyClient(down, { cache });
      return restarted.isEnabled("beta");
    };
    await expect(restart()).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
    isFull = false;
    await client.refresh();
    expect(await restart()).toBe(false);
  });

  it("gets unchanged flags again only if another client has replaced them", async () => {
    const entries = new Map<string, CacheEntry>();
    const written: string[] = [];
    const cache: Cache = {
      ...unclearable(entries),
      set: (key, entry) => {
        written.push(key);
        return entries.set(key, entry);
      },
    };
    const client = await readyClient(new ScriptedServer(on, status(304)), { cache });
    written.length = 0;
    await client.refresh();
    expect(written).toEqual([":index"]);
    const other = new ScriptedServer(configuration([flag("theirs")]));
    const sdkKey = "pnk_other_1";
    await readyClient(other, { cache: unclearable(entries), sdkKey });
    written.length = 0;
    await client.refresh();
    expect(written).toEqual(["beta", "ruled", ":index"]);
  });

  it("keep flags only for their own environment", async () => {
    const cache = new Map();
    const before = await readyClient(new ScriptedServer(on), {
      cache: unclearable(cache),
      sdkKey: "pnk_production_1",
    });
    await before.shutdown();
    expect(JSON.stringify([...cache])).not.toContain("pnk_production_1");
    const start = async (options: Partial<FeatureFlagsClientOptions>) => {
      const server = new ScriptedServer(status(503));
      const fast = { retries: 1, retryDelayMs: 0, cache: unclearable(cache) };
      await readyClient(server, { ...fast, ...options });
    };
    const own = { sdkKey: "pnk_production_1" };
    await start(own);
    await expect(start({ sdkKey: "pnk_staging_1" })).rejects.toThrow();
    await expect(start({ ...own, baseUrl: "http://127.0.0.1:4000" })).rejects.toThrow();
  });

  it("may hold nonsense in its cache", async () => {
    const entries = [undefined, null, 1, {}, { keys: 3 }, { keys: [1, "a"], confirmedAt: "x" }];
    for (const entry of entries) {
      const nonsense = {
        ...new Map(),
        get: () => entry as never,
        set() {},
        delete() {},
        clear() {},
      };
      const server = new ScriptedServer(status(302));
      const client = clientFor(server, { cache: nonsense });
      await expect(client.initialize()).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
    }
  });
});

describe("a listener", () => {
  it("is called once for each of its subscriptions", async () => {
    const client = await readyClient(new ScriptedServer(on, configuration([]), on));
    const listener = vi.fn();
    const unsubscribe = client.subscribe(listener);
    client.subscribe(listener);
    await client.refresh();
    expect(listener).toHaveBeenCalledTimes(2);
    unsubscribe();
    unsubscribe();
    await client.refresh();
    expect(listener).toHaveBeenCalledTimes(3);
  });

  it("is removed even if it was added several times", async () => {
    const client = clientFor(new ScriptedServer(on));
    const listener = vi.fn();
    client.on("ready", listener).on("ready", listener).once("ready", listener);
    client.off("ready", listener);
    await client.initialize();
    expect(listener).not.toHaveBeenCalled();
  });

  it("may shut the client down, after which nothing is emitted", async () => {
    const client = clientFor(new ScriptedServer(on));
    const events = eventsOf(client);
    client.on("refresh:start", () => void client.shutdown());
    await client.initialize();
    await expect(client.refresh()).rejects.toMatchObject({ code: "NOT_INITIALIZED" });
    expect(events).toEqual(["ready", "refresh:start", "shutdown"]);
  });

  it("may shut the client down, and no other listener learns of its event afterwards", async () => {
    const eventEmitter = new EventEmitter();
    const events: string[] = [];
    const client = clientFor(new ScriptedServer(on), { eventEmitter });
    eventEmitter.on("refresh:success", () => events.push("emitter refresh:success"));
    eventEmitter.on("shutdown", () => events.push("emitter shutdown"));
    client.on("refresh:success", () => void client.shutdown());
    client.on("refresh:success", () => events.push("listener refresh:success"));
    await client.initialize();
    await client.refresh();
    expect(events).toEqual(["emitter shutdown"]);
  });

  it("may shut down the client again at the event `shutdown`", async () => {
    const client = clientFor(new ScriptedServer(on));
    const events = eventsOf(client);
    client.on("shutdown", () => void client.shutdown());
    await client.initialize();
    await client.shutdown();
    expect(events).toEqual(["ready", "shutdown"]);
  });

  it("may refresh", async () => {
    const server = new ScriptedServer(on);
    const client = clientFor(server);
    const refreshed = new Promise((resolve) => {
      client.on("ready", () => client.refresh().then(resolve));
    });
    await client.initialize();
    await refreshed;
    expect(server.requests).toHaveLength(2);
  });

  it("may refresh again after a refresh has succeeded or failed", async () => {
    const server = new ScriptedServer(on, on, on, status(404), on);
    const client = await readyClient(server);
    const again = (type: "refresh:success" | "refresh:error") =>
      new Promise<void>((resolve) => {
        const listener = () => {
          client.off(type, listener);
          void client.refresh().then(resolve);
        };
        client.on(type, listener);
      });
    const afterSuccess = again("refresh:success");
    await client.refresh();
    await afterSuccess;
    expect(server.requests).toHaveLength(3);
    const afterFailure = again("refresh:error");
    await expect(client.refresh()).rejects.toMatchObject({ code: "REFRESH_FAILED" });
    await afterFailure;
    expect(server.requests).toHaveLength(5);
  });
});

describe("the caller's event emitter", () => {
  it("gets the events and keeps its listeners", async () => {
    const eventEmitter = new EventEmitter();
    const events: LifecycleEvent[] = [];
    eventEmitter.on("ready", (event) => events.push(event));
    eventEmitter.on("shutdown", (event) => events.push(event));
    const client = await readyClient(new ScriptedServer(on), { eventEmitter });
    await client.shutdown();
    expect(events).toEqual([{ type: "ready" }, { type: "shutdown" }]);
    expect(eventEmitter.listenerCount("ready")).toBe(1);
  });
});

describe("the console logger", () => {
  it("omits details in production", () => {
    const debug = vi.spyOn(console, "debug").mockImplementation(() => {});
    const info = vi.spyOn(console, "info").mockImplementation(() => {});
    vi.stubEnv("NODE_ENV", "production");
    consoleLogger.debug("detail");
    consoleLogger.info("news", { n: 1 });
    vi.unstubAllEnvs();
    expect(debug).not.toHaveBeenCalled();
    expect(info).toHaveBeenCalledWith("[pennon] news", { n: 1 });
    consoleLogger.debug("detail");
    expect(debug).toHaveBeenCalledWith("[pennon] detail");
  });

  it.each([
    ["there is no process", undefined],
    ["process has no env", {}],
    [
      "the environment must not be read",
      {
        get env() {
          return broken();
        },
      },
    ],
  ])("writes all messages to the console if %s", (_, process) => {
    const debug = vi.spyOn(console, "debug").mockImplementation(() => {});
    vi.stubGlobal("process", process);
    try {
      consoleLogger.debug("detail");
    } finally {
      vi.unstubAllGlobals();
    }
    expect(debug).toHaveBeenCalledWith("[pennon] detail");
  });
});

/** Every option but `sdkKey`. */
const OPTIONAL: Record<Exclude<keyof FeatureFlagsClientOptions, "sdkKey">, true> = {
  baseUrl: true,
  bootstrap: true,
  bootstrapContext: true,
  cache: true,
  cacheTtlMs: true,
  cacheTtlSeconds: true,
  context: true,
  eventEmitter: true,
  fallbacks: true,
  logger: true,
  mode: true,
  onEvaluate: true,
  pollIntervalMs: true,
  reportUsage: true,
  retries: true,
  retryDelayMs: true,
  staleIfError: true,
  store: true,
  streaming: true,
  timeoutMs: true,
  transport: true,
};

describe("options", () => {
  it("are rejected with a message that describes what is expected", () => {
    const refused: readonly (readonly [unknown, string])[] = [
      [undefined, "sdkKey"],
      [{}, "sdkKey"],
      [{ sdkKey: "" }, "sdkKey"],
      [{ sdkKey: "two words" }, "sdkKey"],
      [{ sdkKey: "k", baseUrl: "flags.example.com" }, "https://"],
      [{ sdkKey: "k", baseUrl: "ftp://flags" }, "https://"],
      [{ sdkKey: "k", pollIntervalMs: -1 }, "pollIntervalMs"],
      [{ sdkKey: "k", pollIntervalMs: Number.NaN }, "pollIntervalMs"],
      [{ sdkKey: "k", cacheTtlSeconds: 0 }, "milliseconds"],
      [{ sdkKey: "k", cacheTtlMs: 0 }, "cacheTtlMs must be a number of milliseconds"],
      [{ sdkKey: "k", cacheTtlSeconds: "60" }, "cacheTtlSeconds"],
      [{ sdkKey: "k", cacheTtlMs: 60_000, cacheTtlSeconds: 60_000 }, "set cacheTtlMs only"],
      [{ sdkKey: "k", retries: 0 }, "1 to 10"],
      [{ sdkKey: "k", retries: 11 }, "1 to 10"],
      [{ sdkKey: "k", retries: 1.5 }, "1 to 10"],
      [{ sdkKey: "k", retryDelayMs: -1 }, "retryDelayMs"],
      [{ sdkKey: "k", timeoutMs: 0 }, "timeoutMs"],
      [{ sdkKey: "k", cache: { get() {} } }, "cache must have the method set"],
      [{ sdkKey: "k", transport: {} }, "transport must have the method send"],
      [{ sdkKey: "k", logger: "console" }, "logger must have the method debug"],
      [{ sdkKey: "k", eventEmitter: { on() {} } }, "eventEmitter must have the method emit"],
      [{ sdkKey: "k", streaming: 1 }, "streaming must be true or false"],
      [{ sdkKey: "k", staleIfError: 60_000 }, "staleIfError must be true or false"],
      [{ sdkKey: "k", reportUsage: "yes" }, "reportUsage must be true or false"],
      [{ sdkKey: "k", onEvaluate: {} }, "onEvaluate must be a function"],
      [
        { sdkKey: "k", fallbacks: { beta: "on" } },
        "fallbacks must be an object with true or false",
      ],
      [{ sdkKey: "k", fallbacks: "beta" }, "fallbacks must be"],
      [{ sdkKey: "k", fallbacks: [true, 1] }, "fallbacks must be"],
      [{ sdkKey: "k", bootstrap: 1 }, "bootstrap must be the result of client.snapshot()"],
      [{ sdkKey: "k", bootstrap: {} }, "GET /sdk/v1/config"],
      [{ sdkKey: "k", bootstrap: { version: 2, flags: [] } }, "another version"],
      [{ sdkKey: "k", bootstrap: { version: 1, flags: [null] } }, "bootstrap must be"],
      [{ sdkKey: "k", bootstrap: { version: 1, flags: [], subject: null } }, "bootstrap must be"],
      [{ sdkKey: "k", bootstrap: { version: 1, flags: [{ key: "beta" }] } }, "bootstrap must be"],
    ];
    for (const [options, message] of refused) {
      const create = () => new FeatureFlagsClient(options as FeatureFlagsClientOptions);
      expect(create, message).toThrow(expect.objectContaining({ code: "INVALID_OPTIONS" }));
      expect(create, message).toThrow(message);
    }
  });

  it("need no `URL.canParse`, which older browsers lack", () => {
    vi.stubGlobal("URL", class extends URL {});
    Object.assign(URL, { canParse: undefined });
    expect(() => new FeatureFlagsClient({ sdkKey: "k", baseUrl: "/flags" })).toThrow("https://");
    new FeatureFlagsClient({ sdkKey: "k", baseUrl: "https://flags.example.com/" });
    vi.unstubAllGlobals();
  });

  const absent = (value: undefined | null) => ({
    ...Object.fromEntries(Object.keys(OPTIONAL).map((name) => [name, value])),
    sdkKey: "k",
  });

  it("may be omitted, undefined or null", async () => {
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ flags: [] })));
    for (const options of [{ sdkKey: "k" }, absent(undefined), absent(null)]) {
      const client = new FeatureFlagsClient(options);
      await client.initialize({ timeoutMs: null, retry: null } as unknown as InitializeOptions);
      expect(client.mode).toBe("local");
      expect(client.evaluateAll({})).toEqual({});
      await client.shutdown();
    }
    vi.unstubAllGlobals();
  });

  it("may be null with mode remote too", () => {
    const client = new FeatureFlagsClient({ ...absent(null), mode: "remote" });
    expect(client.context).toEqual({});
  });
});
