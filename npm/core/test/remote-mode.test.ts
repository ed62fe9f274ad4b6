import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { FeatureFlagsClient, VERSION } from "@pennon/core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ada, bob, clientFor, readyRemoteClient, remoteClient } from "../../test-kit/clients.ts";
import { EvaluatingServer, evaluation } from "../../test-kit/evaluating.ts";
import { exactTimers } from "../../test-kit/exact-timers.ts";
import { Pennon } from "../../test-kit/pennon.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import { held, malformed, optionsFor, ScriptedServer, status } from "../../test-kit/scripted.ts";

describe("a client in remote mode", () => {
  it("sends its context, and serves the answers as they came", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server, { baseUrl: "https://flags.example.com" });
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        url: "https://flags.example.com/sdk/v1/evaluate/all",
        headers: {
          Authorization: "Bearer pnk_test",
          "Content-Type": "application/json",
          "X-Pennon-Client": `@pennon/core/${VERSION}`,
        },
        body: JSON.stringify({ context: ada }),
      },
    ]);
    expect(client.mode).toBe("remote");
    expect(client.context).toEqual(ada);
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.getValue("beta")).toBe("targeting_rule");
    expect(client.evaluate("beta")).toEqual({ enabled: true, reason: "targeting_rule" });
    expect(client.evaluate("beta")).toBe(client.evaluate("beta", { userId: "ada" }));
    expect(client.read("banner")).toEqual({ enabled: true, reason: "flag_enabled" });
    expect(Object.keys(client.evaluateAll(ada))).toEqual(["banner", "beta"]);
    expect(client.isTargeted("banner")).toBe(true);
    expect(client.isTargeted("none")).toBe(false);
    expect(() => client.evaluate("none")).toThrow("does not exist");
  });

  it("sends only attributes that the server accepts, in a fixed order", async () => {
    const server = new EvaluatingServer();
    const customAttributes = { plan: "pro", age: Number.NaN, beta: true, list: [] };
    const context = { email: null, userId: "ada", customAttributes };
    const client = await readyRemoteClient(server, { context: context as object });
    const sent = { userId: "ada", customAttributes: { beta: true, plan: "pro" } };
    expect(server.bodies).toEqual([{ context: sent }]);
    expect(client.context).toEqual(sent);
    customAttributes.plan = "free";
    expect(
      client.evaluate("beta", { customAttributes: { plan: "pro", beta: true }, ...ada }),
    ).toEqual(client.evaluate("beta"));
  });

  it.each([
    ["an empty address", { email: "" }],
    ["an address that is none", { email: "jörg@exämple.de " }],
    ["half of a surrogate pair", { country: "\ud83d", customAttributes: { plan: "\ud83d" } }],
    ["half of a pair as a name", { customAttributes: { plan: null, "\udca9": true } }],
  ])("leaves out %s, which the server would refuse", async (_what, invalid) => {
    const server = new EvaluatingServer();
    const context = { ...ada, ...invalid };
    const client = await readyRemoteClient(server, { context });
    expect(server.bodies).toEqual([{ context: ada }]);
    expect(client.evaluate("beta", context)).toBe(client.evaluate("beta"));
    const address = { email: "joerg@example.de" };
    await client.setContext(address);
    expect(server.bodies.at(-1)).toEqual({ context: address });
  });

  it("never answers for another context", async () => {
    const client = await readyRemoteClient(new EvaluatingServer(), { fallbacks: { beta: true } });
    const code = expect.objectContaining({ code: "EVALUATION_FAILED" });
    expect(() => client.evaluate("beta", bob)).toThrow(code);
    expect(() => client.isEnabled("beta", bob)).toThrow(code);
    expect(() => client.getValue("beta", {})).toThrow(code);
    expect(() => client.evaluateAll(bob)).toThrow(code);
    const fallback = { enabled: true, reason: "fallback" };
    expect(client.read("beta", bob)).toEqual(fallback);
    expect(client.read("banner", bob)).toBeUndefined();
    const other = client.withContext(bob);
    expect(other.read("beta")).toEqual(fallback);
    expect(other.isEnabled("banner")).toBe(false);
    expect(other.readAll()).toEqual({});
    expect(() => other.evaluate("beta")).toThrow(code);
    expect(() => other.snapshot()).toThrow(code);
    expect(() => client.explain("beta")).toThrow(code);
  });

  it("answers for its own context if a read has the context null", async () => {
    const client = await readyRemoteClient(new EvaluatingServer());
    expect(client.evaluate("beta", null)).toBe(client.evaluate("beta"));
    expect(client.isEnabled("beta", null)).toBe(true);
  });

  it("has no attributes with the context null, even with a bootstrap for another one", async () => {
    const server = new EvaluatingServer();
    const bootstrap = (await readyRemoteClient(server)).snapshot();
    const client = remoteClient(server, { bootstrap, context: null });
    expect(client.context).toEqual({});
    expect(client.read("beta")).toBeUndefined();
  });

  it("sends the tag of its answers, and keeps them if they are unchanged", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    const events = eventsOf(client);
    await client.refresh();
    server.document = "v2";
    server.evaluate = () => [evaluation("banner", false), evaluation("new")];
    await client.refresh();
    expect(server.tags[1]).toMatch(/^W\/"v1\.[\w-]+"$/);
    expect(server.tags[2]).toBe(server.tags[1]);
    expect(events).toEqual([
      "refresh:start",
      "refresh:success",
      "refresh:start",
      "change banner beta new",
      "refresh:success",
    ]);
    expect(client.isEnabled("banner")).toBe(false);
    expect(client.read("beta")).toBeUndefined();
  });

  it("reports the flags that appear after an empty list", async () => {
    const server = new EvaluatingServer();
    server.evaluate = () => [];
    const client = await readyRemoteClient(server);
    const [events, notified] = [eventsOf(client), vi.fn()];
    client.subscribe(notified);
    server.document = "v2";
    server.evaluate = () => [evaluation("beta")];
    await client.refresh();
    expect(client.isEnabled("beta")).toBe(true);
    expect(events).toEqual(["refresh:start", "change beta", "refresh:success"]);
    expect(notified).toHaveBeenCalledOnce();
  });

  it("returns the server's reasons, even unknown ones, and counts entries that it cannot read", async () => {
    const logger = new LogRecorder();
    const server = new EvaluatingServer();
    const strange = [null, { key: "x" }, { key: 1, enabled: true, reason: "flag_enabled" }];
    server.evaluate = () => [evaluation("a", true, { reason: "moon" }), ...(strange as never[])];
    const client = await readyRemoteClient(server, { logger });
    expect(client.evaluateAll()).toEqual({ a: { enabled: true, reason: "moon" } });
    expect(logger.lines).toEqual([expect.stringMatching(/^warn: 3 of the flags/)]);
  });

  it("fails to initialize if the response has no flags", async () => {
    const server = new EvaluatingServer();
    server.respondWith(malformed());
    await expect(remoteClient(server).initialize()).rejects.toThrow("does not contain flags");
  });

  it("retries, and reports an outage", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    server.fail(503);
    await expect(client.refresh()).rejects.toMatchObject({ code: "REFRESH_FAILED" });
    expect(server.requests).toHaveLength(3);
    expect(client.isEnabled("beta")).toBe(true);
    server.recover();
    await client.refresh();
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("uses fallbacks for flags that do not exist", async () => {
    const client = await readyRemoteClient(new EvaluatingServer(), { fallbacks: { none: true } });
    expect(client.isEnabled("none")).toBe(true);
    expect(client.read("none")).toEqual({ enabled: true, reason: "fallback" });
  });

  it("reports usage, and calls onEvaluate with its context", async () => {
    const server = new EvaluatingServer();
    const seen: unknown[] = [];
    const client = await readyRemoteClient(server, {
      reportUsage: true,
      onEvaluate: (event) => seen.push(event),
    });
    await vi.dynamicImportSettled();
    client.isEnabled("beta");
    await client.flush();
    const counts = [{ flagKey: "beta", reason: "targeting_rule", enabled: true, count: 1 }];
    expect(server.bodies.at(-1)).toMatchObject({ counts });
    expect(seen).toEqual([{ key: "beta", context: ada, enabled: true, reason: "targeting_rule" }]);
  });
});

describe("over time", () => {
  exactTimers();

  it("polls for its context", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server, { pollIntervalMs: 30_000 });
    await client.setContext(bob);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.bodies.slice(2)).toEqual([{ context: bob }, { context: bob }]);
    expect(server.tags.slice(2).every(Boolean)).toBe(true);
  });

  it("expires each answer after its TTL, and serves it again after an outage", async () => {
    const server = new EvaluatingServer();
    server.evaluate = () => [
      evaluation("long", true, { ttlOverrideSeconds: 100 }),
      evaluation("short"),
    ];
    const client = await readyRemoteClient(server, {
      cacheTtlMs: 10_000,
      fallbacks: { short: false },
    });
    const events = eventsOf(client);
    server.fail(500);
    await vi.advanceTimersByTimeAsync(11_000);
    expect(client.isEnabled("long")).toBe(true);
    expect(client.read("short")?.reason).toBe("fallback");
    server.recover();
    await client.refresh();
    expect(client.read("short")?.reason).toBe("flag_enabled");
    expect(events.filter((event) => event.startsWith("change"))).toEqual([
      "change short",
      "change short",
    ]);
  });

  it("respects Retry-After", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    const tooMany = status(429, { "Retry-After": "10" });
    server.respondWith(tooMany, (request) => server.respond(request));
    const refreshed = client.refresh();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(server.requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    await refreshed;
    expect(server.requests).toHaveLength(3);
  });

  it("never serves a late answer, not even after an outage", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    const [late, respond] = [held(), server.respond.bind(server)];
    server.respondWith(late.answer, respond);
    const refreshed = client.refresh();
    await server.requested(2);
    const older = respond({ ...server.requests[0], headers: {} } as never);
    server.document = "v2";
    server.evaluate = () => [evaluation("beta", false)];
    await vi.advanceTimersByTimeAsync(4_000);
    await refreshed;
    await late.release(() => older);
    server.fail(503);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(client.read("beta")).toBeUndefined();
    server.recover();
    await client.refresh();
    expect(client.isEnabled("beta")).toBe(false);
  });

  it("keeps expired answers with staleIfError", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server, { staleIfError: true });
    server.fail(500);
    await vi.advanceTimersByTimeAsync(200_000);
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("requests its answers again if the stream announces another config document", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server, { streaming: true, pollIntervalMs: 30_000 });
    await vi.dynamicImportSettled();
    await vi.advanceTimersByTimeAsync(0);
    server.announce('W/"v1"');
    await vi.advanceTimersByTimeAsync(40_000);
    expect(server.requests).toHaveLength(1);
    server.document = "v2";
    server.evaluate = () => [evaluation("beta", false)];
    server.announce('W/"v2"');
    await vi.advanceTimersByTimeAsync(250);
    expect(client.isEnabled("beta")).toBe(false);
    expect(server.requests).toHaveLength(2);
    await client.setContext(bob);
    await vi.advanceTimersByTimeAsync(40_000);
    expect(server.requests).toHaveLength(3);
  });
});

describe("the options", () => {
  const options = optionsFor(new EvaluatingServer());
  const create = (more: object) => () => new FeatureFlagsClient({ ...options, ...more });

  it.each([
    ["mode must be", { mode: "far" }],
    ['context requires mode: "remote"', { context: {} }],
    ["context must be an object", { mode: "remote", context: "ada" }],
    ["store keeps", { mode: "remote", store: { maxAgeSeconds: 1, load() {}, save() {} } }],
    ["bootstrap must be a snapshot", { mode: "remote", bootstrap: { flags: [] } }],
    ["bootstrap must be a snapshot", { mode: "remote", bootstrap: '{"flags":[]}' }],
  ])("are refused: %s", (message, more) => {
    const error = expect.objectContaining({
      code: "INVALID_OPTIONS",
      message: expect.stringContaining(message),
    });
    expect(create(more)).toThrow(error);
  });

  it("may have getters that throw, which count as missing", () => {
    const context = {
      country: "GB",
      get userId(): string {
        throw new Error("no");
      },
    };
    const client = new FeatureFlagsClient({ ...options, mode: "remote", context });
    expect(client.context).toEqual({ country: "GB" });
  });

  it("refuse setContext in the default mode", async () => {
    const client = new FeatureFlagsClient(options);
    expect(client.mode).toBe("local");
    expect(client.context).toBeUndefined();
    const error = { code: "INVALID_OPTIONS", message: expect.stringContaining('mode: "remote"') };
    await expect(client.setContext({})).rejects.toMatchObject(error);
  });

  it("are checked for attributes that rules cannot see", async () => {
    const warn = vi.fn();
    const logger = { debug: vi.fn(), info: vi.fn(), warn, error: vi.fn() };
    const context = { userId: "ada", plan: "pro" };
    const client = new FeatureFlagsClient({ ...options, mode: "remote", context, logger });
    await client.setContext({ userId: "ada", seats: 3 } as object);
    await vi.dynamicImportSettled();
    const warnings = warn.mock.calls.map(([message]) => message);
    expect(warnings).toEqual([
      expect.stringContaining("'plan'"),
      expect.stringContaining("'seats'"),
    ]);
  });

  it("are named by the error of an environment that hides its rules", async () => {
    const client = clientFor(new ScriptedServer(status(403)));
    await expect(client.initialize()).rejects.toThrow('mode: "remote"');
  });
});

describe("over real HTTP", () => {
  it("posts its context, sends the tag, and understands 304", async () => {
    const server = new EvaluatingServer();
    const statuses: number[] = [];
    const http = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) {
        chunks.push(chunk);
      }
      const tag = request.headers["if-none-match"];
      const answered = server.respond({
        method: "POST",
        url: request.url ?? "",
        headers: tag === undefined ? {} : { "If-None-Match": tag },
        body: Buffer.concat(chunks).toString(),
        signal: new AbortController().signal,
      });
      statuses.push(answered.status);
      const etag = answered.headers.get("ETag");
      response.writeHead(answered.status, etag ? { ETag: etag } : {}).end(answered.body);
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void http.close());
    const { port } = http.address() as AddressInfo;
    const client = new FeatureFlagsClient({
      sdkKey: "pnk_test",
      baseUrl: `http://127.0.0.1:${port}`,
      mode: "remote",
      context: ada,
    });
    await client.initialize();
    await client.refresh();
    await client.setContext(bob);
    expect(client.isEnabled("beta")).toBe(false);
    expect(statuses).toEqual([200, 304, 200]);
    await client.shutdown();
  });
});

describe("with the real server", () => {
  let pennon: Pennon;
  let sdkKey: string;

  beforeAll(async () => {
    pennon = await Pennon.start();
    const environment = await pennon.request("POST", "/environments", {
      product: "shop",
      name: "web",
      visibility: "public",
      clientRules: "answers",
    });
    sdkKey = environment.sdkKey;
    const flag = await pennon.request("POST", "/flags", {
      key: "checkout",
      name: "Checkout",
      type: "boolean",
      public: true,
    });
    const path = `/flags/${flag.id}/environments/${environment.id}`;
    await pennon.request("PUT", path, { isEnabled: true });
    await pennon.request("PUT", `${path}/rollout`, { percentage: 50, strategy: "per_user" });
  }, 30_000);

  afterAll(() => pennon?.stop());

  it("the key gives access to evaluations only, and they are those of the server", async () => {
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
      expect(here).toEqual(await pennon.request("POST", "/sdk/v1/evaluate", question, sdkKey));
      results.add(here.enabled);
    }
    expect(results.size).toBe(2);
    await client.shutdown();
  });
});
