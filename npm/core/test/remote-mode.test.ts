import {
  type CacheEntry,
  FeatureFlagsClient,
  type FeatureFlagsClientOptions,
  type Reason,
  type TransportRequest,
} from "@pennon/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { eventsOf, Journal } from "./journal.ts";
import { Pennon } from "./pennon.ts";
import { document, held, optionsFor, ScriptedService, status, unreachable } from "./scripted.ts";
import { StreamingService } from "./streamed.ts";

const ada = { userId: "ada" };
const ben = { userId: "ben" };

/** A response with the evaluations of flags. */
function answers(
  flags: Readonly<Record<string, readonly [boolean, Reason]>>,
  etag = 'W/"1.x"',
  ttlOverrideSeconds: number | null = null,
) {
  const list = Object.entries(flags).map(([key, [enabled, reason]]) => ({
    key,
    enabled,
    reason,
    ttlOverrideSeconds,
  }));
  return document({ flags: list }, etag);
}

const forAda = answers({ beta: [true, "targeting_rule"], gamma: [false, "rollout"] });
const forBen = answers({ beta: [false, "flag_disabled"], gamma: [true, "rollout"] }, 'W/"1.y"');

function remote(
  service: ScriptedService,
  options: Partial<FeatureFlagsClientOptions> = {},
): FeatureFlagsClient {
  return new FeatureFlagsClient(optionsFor(service, { mode: "remote", context: ada, ...options }));
}

async function ready(service: ScriptedService, options: Partial<FeatureFlagsClientOptions> = {}) {
  const client = remote(service, options);
  await client.initialize();
  return client;
}

function bodyOf(request: TransportRequest | undefined): unknown {
  return JSON.parse(request?.body ?? "null");
}

/** Advances the fake time until the promise is settled. */
async function settle<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  promise
    .catch(() => {})
    .finally(() => {
      isSettled = true;
    });
  while (!isSettled) {
    await vi.advanceTimersByTimeAsync(500);
  }
  return promise;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(1 - 2 ** -32);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a client in the mode remote", () => {
  it("asks for all evaluations of its context in one request", async () => {
    const service = new ScriptedService(forAda);
    const context = { country: "GB", userId: "ada", customAttributes: { seats: 3, none: null } };
    const client = await ready(service, { context, baseUrl: "https://flags.example.com" });
    expect(service.requests).toMatchObject([
      {
        method: "POST",
        url: "https://flags.example.com/sdk/v1/evaluate/all",
        headers: { Authorization: "Bearer pnk_test", "Content-Type": "application/json" },
      },
    ]);
    expect(bodyOf(service.requests[0])).toEqual({
      context: { userId: "ada", country: "GB", customAttributes: { seats: 3 } },
    });
    expect(client.mode).toBe("remote");
    await client.shutdown();
  });

  it("answers every read for its context", async () => {
    const client = await ready(new ScriptedService(forAda));
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.getValue("gamma")).toBe("rollout");
    const beta = { enabled: true, reason: "targeting_rule" };
    expect(client.evaluate("beta")).toEqual(beta);
    expect(client.evaluate("beta", { userId: "ada", country: undefined })).toEqual(beta);
    expect(client.read("beta", ada)).toEqual(beta);
    expect(client.withContext(ada).isEnabled("beta")).toBe(true);
    expect(client.withContext().readAll()).toEqual(client.evaluateAll());
    expect(Object.keys(client.evaluateAll(ada))).toEqual(["beta", "gamma"]);
    expect(client.isTargeted("beta")).toBe(true);
    expect(client.isTargeted("nothing")).toBe(false);
    expect(() => client.evaluate("nothing")).toThrow(
      expect.objectContaining({ code: "FLAG_NOT_FOUND" }),
    );
    await client.shutdown();
  });

  it("answers no read for another context", async () => {
    const client = await ready(new ScriptedService(forAda), { fallbacks: { gamma: true } });
    expect(client.read("beta", ben)).toBeUndefined();
    expect(client.read("gamma", ben)).toEqual({ enabled: true, reason: "fallback" });
    expect(client.withContext(ben).isEnabled("beta")).toBe(false);
    expect(client.evaluateAll({})).toEqual({});
    expect(() => client.evaluate("beta", ben)).toThrow(
      expect.objectContaining({
        code: "NOT_INITIALIZED",
        message: expect.stringContaining("setContext"),
      }),
    );
    expect(() => client.explain("beta", ada)).toThrow(
      expect.objectContaining({ code: "FLAG_UNSUPPORTED" }),
    );
    await client.shutdown();
  });

  it("polls with the tag, and reports changes", async () => {
    const changed = answers({ beta: [true, "rollout"], delta: [true, "flag_enabled"] }, 'W/"2.x"');
    const service = new ScriptedService(forAda, status(304), changed);
    const client = await ready(service, { pollIntervalMs: 30_000 });
    const events = eventsOf(client);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(service.tags).toEqual([undefined, 'W/"1.x"', 'W/"1.x"']);
    expect(events).toContain("change beta gamma delta");
    expect(client.isEnabled("delta")).toBe(true);
    await client.shutdown();
  });

  it("retries, and fails with a hint if the key gives access to nothing", async () => {
    const service = new ScriptedService(unreachable(), forAda);
    const client = remote(service);
    await settle(client.initialize());
    expect(client.isEnabled("beta")).toBe(true);
    await client.shutdown();

    const local = new FeatureFlagsClient(optionsFor(new ScriptedService(status(403))));
    await expect(local.initialize()).rejects.toThrow('mode: "remote"');
  });

  it.each([
    ["no JSON", "<html>"],
    ["no flags", {}],
    ["a config document", { flags: [{ key: "beta", enabled: true, rules: [], rollout: null }] }],
    [
      "a wrong TTL",
      { flags: [{ key: "a", enabled: true, reason: "rollout", ttlOverrideSeconds: "9" }] },
    ],
  ])("does not accept %s", async (_, body) => {
    const client = remote(new ScriptedService(document(body)));
    await expect(client.initialize()).rejects.toThrow(
      expect.objectContaining({ code: "INITIALIZATION_FAILED" }),
    );
  });

  it("serves a flag no longer than its TTL", async () => {
    const short = answers({ beta: [true, "rollout"] }, 'W/"1.x"', 5);
    const service = new ScriptedService(short, unreachable());
    const client = await ready(service, { retries: 1, fallbacks: { beta: false } });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(client.isEnabled("beta")).toBe(true);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(client.read("beta")).toEqual({ enabled: false, reason: "fallback" });
    await client.shutdown();
  });

  it("fetches again when the stream announces another document, and only then", async () => {
    const service = new StreamingService(forAda, answers({ beta: [false, "rollout"] }, 'W/"2.x"'));
    const client = await ready(service, { streaming: true, pollIntervalMs: 30_000 });
    await vi.dynamicImportSettled();
    await vi.advanceTimersByTimeAsync(0);
    service.tells('W/"1"');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(service.requests).toHaveLength(1);
    service.tells('W/"2"');
    await vi.advanceTimersByTimeAsync(250);
    expect(service.requests).toHaveLength(2);
    expect(client.isEnabled("beta")).toBe(false);
    await client.shutdown();
  });

  it("counts and reports the evaluations that are read", async () => {
    const seen: unknown[] = [];
    const client = await ready(new ScriptedService(forAda), {
      onEvaluate: (event) => seen.push(event),
    });
    client.isEnabled("beta");
    client.evaluate("gamma", ada);
    expect(seen).toEqual([
      { key: "beta", context: ada, enabled: true, reason: "targeting_rule" },
      { key: "gamma", context: ada, enabled: false, reason: "rollout" },
    ]);
    await client.shutdown();
  });
});

describe("setContext", () => {
  it("serves the previous evaluations until those for the new context arrive", async () => {
    const late = held();
    const service = new ScriptedService(forAda, late.answer);
    const client = await ready(service);
    const events = eventsOf(client);
    const set = client.setContext(ben);
    await service.requested(2);
    expect(bodyOf(service.requests[1])).toMatchObject({ context: ben });
    expect(service.tags[1]).toBeUndefined();
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.read("beta", ben)).toBeUndefined();
    await late.release(forBen);
    await set;
    expect(client.isEnabled("beta")).toBe(false);
    expect(client.read("beta", ben)).toEqual({ enabled: false, reason: "flag_disabled" });
    expect(client.read("beta", ada)).toBeUndefined();
    expect(events).toEqual(["refresh:start", "change beta gamma", "refresh:success"]);
    await client.shutdown();
  });

  it("ignores a response for a context that has been replaced", async () => {
    const late = held();
    const service = new ScriptedService(forAda, late.answer, forBen);
    const client = await ready(service);
    const first = client.setContext({ userId: "eve" });
    await service.requested(2);
    const second = client.setContext(ben);
    await Promise.all([first, second]);
    await late.release(forAda);
    expect(client.read("gamma", ben)?.enabled).toBe(true);
    expect(client.isEnabled("gamma")).toBe(true);
    await client.shutdown();
  });

  it("before initialize() determines the first request", async () => {
    const service = new ScriptedService(forBen);
    const client = remote(service);
    await client.setContext(ben);
    await client.initialize();
    expect(service.requests.map(bodyOf)).toMatchObject([{ context: ben }]);
    expect(client.read("gamma", ben)?.enabled).toBe(true);
    await client.shutdown();
  });

  it("rejects if the service does not respond, and the next poll tries again", async () => {
    const service = new ScriptedService(forAda, unreachable(), unreachable(), forBen);
    const client = await ready(service, { retries: 1, pollIntervalMs: 30_000 });
    await expect(settle(client.setContext(ben))).rejects.toThrow(
      expect.objectContaining({ code: "REFRESH_FAILED" }),
    );
    expect(client.isEnabled("beta")).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(client.read("beta", ben)?.enabled).toBe(false);
    await client.shutdown();
  });

  it("is refused in the default mode, after shutdown(), and for something else than a context", async () => {
    const local = new FeatureFlagsClient(optionsFor(new ScriptedService(forAda)));
    expect(local.mode).toBe("local");
    await expect(local.setContext(ada)).rejects.toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS" }),
    );
    const client = await ready(new ScriptedService(forAda));
    for (const context of ["ada", 1, []]) {
      await expect(client.setContext(context as never)).rejects.toThrow(
        expect.objectContaining({ code: "INVALID_OPTIONS" }),
      );
    }
    await client.shutdown();
    await expect(client.setContext(ben)).rejects.toThrow(
      expect.objectContaining({ code: "NOT_INITIALIZED" }),
    );
  });
});

describe("what a client in the mode remote starts with", () => {
  it("is a snapshot for its context", async () => {
    const server = await ready(new ScriptedService(forAda));
    const bootstrap = JSON.parse(JSON.stringify(server.snapshot()));
    expect(bootstrap).toMatchObject({ version: 1, subject: { context: ada } });
    const page = remote(new ScriptedService(unreachable()), { bootstrap });
    expect(page.isEnabled("beta")).toBe(true);
    expect(page.evaluate("gamma", ada).reason).toBe("rollout");
    const other = remote(new ScriptedService(unreachable()), { bootstrap, context: ben });
    expect(other.read("beta")).toBeUndefined();
    await server.shutdown();
  });

  it("is its cache, if that is for the same context", async () => {
    const entries = new Map<string, CacheEntry>();
    const cache = {
      get: (key: string) => entries.get(key),
      set: (key: string, entry: CacheEntry) => entries.set(key, entry),
      delete: (key: string) => entries.delete(key),
      clear: () => {},
    };
    const first = await ready(new ScriptedService(forAda), { cache });
    expect(first.isEnabled("beta")).toBe(true);
    const offline = { cache, retries: 1 };
    const again = remote(new ScriptedService(unreachable()), offline);
    await settle(again.initialize());
    expect(again.read("beta", ada)?.enabled).toBe(true);
    const other = remote(new ScriptedService(unreachable()), { ...offline, context: ben });
    await expect(settle(other.initialize())).rejects.toThrow("could not be reached");
    await Promise.all([first.shutdown(), again.shutdown()]);
  });

  it.each([
    [{ mode: "far" }, "mode must be"],
    [{ mode: "local", context: ada }, "context requires mode"],
    [{ context: "ada" }, "context must be an object"],
    [{ store: { load: () => null, save: () => {}, maxAgeSeconds: 1 } }, "store keeps rules"],
    [{ bootstrap: { flags: [] } }, "must be a snapshot"],
    [{ bootstrap: '{"flags":[]}' }, "must be a snapshot"],
  ])("is not %j", (options, message) => {
    const service = new ScriptedService(forAda);
    expect(() => remote(service, options as never)).toThrow(message);
  });

  it("is checked for attributes that rules cannot see", async () => {
    const logger = new Journal();
    const client = await ready(new ScriptedService(forAda), {
      logger,
      context: { userId: "ada", plan: "pro" } as never,
    });
    await client.setContext({ tenant: "acme" } as never);
    expect(logger.lines).toEqual([
      expect.stringContaining("'plan'"),
      expect.stringContaining("'tenant'"),
    ]);
    await client.shutdown();
  });
});

describe("with the real service", () => {
  let pennon: Pennon;
  let sdkKey: string;

  beforeAll(async () => {
    pennon = await Pennon.start();
    const environment = await pennon.ask("POST", "/environments", {
      product: "shop",
      name: "web",
      visibility: "public",
      clientRules: "answers",
    });
    sdkKey = environment.sdkKey;
    const flag = await pennon.ask("POST", "/flags", {
      key: "checkout",
      name: "Checkout",
      type: "boolean",
      public: true,
    });
    const path = `/flags/${flag.id}/environments/${environment.id}`;
    await pennon.ask("PUT", path, { isEnabled: true });
    await pennon.ask("PUT", `${path}/rollout`, { percentage: 50, strategy: "per_user" });
  }, 30_000);

  afterAll(() => pennon?.stop());

  it("the key gives access to evaluations only, and they are those of the service", async () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    expect(sdkKey).toMatch(/^pnp_/);
    const options = { sdkKey, baseUrl: pennon.url, pollIntervalMs: 0 };
    await expect(new FeatureFlagsClient(options).initialize()).rejects.toThrow('mode: "remote"');
    const client = new FeatureFlagsClient({ ...options, mode: "remote", streaming: true });
    await client.initialize();
    const results = new Set<boolean>();
    for (let user = 0; user < 20; user += 1) {
      const context = { userId: `user-${user}` };
      await client.setContext(context);
      const here = client.evaluate("checkout", context);
      const question = { flagKey: "checkout", context };
      expect(here).toEqual(await pennon.ask("POST", "/sdk/v1/evaluate", question, sdkKey));
      results.add(here.enabled);
    }
    expect(results.size).toBe(2);
    await client.shutdown();
  });
});
