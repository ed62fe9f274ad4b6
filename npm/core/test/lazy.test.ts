import {
  FeatureFlagsClient,
  type FeatureFlagsClientOptions,
  FeatureFlagsError,
  type TransportRequest,
} from "@pennon/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { errorWith } from "../../test-kit/errors.ts";
import { exactTimers } from "../../test-kit/exact-timers.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  flagWithRule,
  held,
  ScriptedServer,
  status,
  unreachable,
} from "../../test-kit/scripted.ts";

const on = configuration([flag("beta"), flagWithRule("ruled", "FR")]);
const answers = (body: unknown) => () => ({
  status: 200,
  headers: new Headers(),
  body: typeof body === "string" ? body : JSON.stringify(body),
});

exactTimers();

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("evaluateRemote", () => {
  const context = { userId: "ada", customAttributes: { seats: 3 } };

  it("sends a request, without initialize()", async () => {
    const server = new ScriptedServer(answers({ enabled: true, reason: "rollout" }));
    const client = clientFor(server, { baseUrl: "https://flags.example.com/" });
    const answer = await client.evaluateRemote("beta", context);
    expect(answer).toEqual({ enabled: true, reason: "rollout" });
    expect(await client.evaluateRemote("beta")).toBe(answer);
    expect(server.requests[0]).toMatchObject({
      method: "POST",
      url: "https://flags.example.com/sdk/v1/evaluate",
      headers: { Authorization: "Bearer pnk_test", "Content-Type": "application/json" },
    });
    const bodies = server.requests.map(({ body }) => JSON.parse(body ?? ""));
    expect(bodies).toEqual([{ flagKey: "beta", context }, { flagKey: "beta" }]);
  });

  it("fails with a code", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.customAttributes = cyclic;
    const failures = [
      [status(404), "FLAG_NOT_FOUND"],
      [status(404, { "content-type": "application/problem+json" }), "FLAG_NOT_FOUND"],
      [status(404, { "content-type": "text/html" }), "EVALUATION_FAILED"],
      [status(400), "EVALUATION_FAILED"],
      [status(503), "EVALUATION_FAILED"],
      [unreachable(), "EVALUATION_FAILED"],
      [answers("<html>"), "EVALUATION_FAILED"],
      [answers({ enabled: "yes" }), "EVALUATION_FAILED"],
      [() => undefined as never, "EVALUATION_FAILED"],
    ] as const;
    for (const [answer, expected] of failures) {
      const client = clientFor(new ScriptedServer(answer));
      const failure = await client.evaluateRemote("beta", context).catch((error) => error);
      expect(failure).toBeInstanceOf(FeatureFlagsError);
      expect(failure).toEqual(errorWith(expected));
    }
    const client = clientFor(new ScriptedServer(on));
    await expect(client.evaluateRemote("beta", cyclic)).rejects.toEqual(
      errorWith("EVALUATION_FAILED"),
    );
  });

  it("fails with a code for a key that is not a string, without a request", async () => {
    const server = new ScriptedServer(on);
    const client = clientFor(server);
    for (const key of [Symbol("s"), Object.create(null), undefined, 7]) {
      await expect(client.evaluateRemote(key)).rejects.toEqual(errorWith("EVALUATION_FAILED"));
    }
    expect(server.requests).toEqual([]);
  });

  it("sends the context as it is at the call", async () => {
    const server = new ScriptedServer(answers({ enabled: true, reason: "rollout" }));
    const client = clientFor(server);
    const context = { userId: "ada" };
    const answer = client.evaluateRemote("beta", context);
    context.userId = "bob";
    await answer;
    expect(JSON.parse(server.requests[0]?.body ?? "").context).toEqual({ userId: "ada" });
  });

  it("waits for at most one attempt, and not beyond shutdown()", async () => {
    const server = new ScriptedServer(held().answer);
    const client = clientFor(server, { timeoutMs: 500 });
    const late = expect(client.evaluateRemote("beta")).rejects.toEqual(
      errorWith("EVALUATION_FAILED"),
    );
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(500);
    await late;
    expect(server.requests[0]?.signal.aborted).toBe(true);

    const given = expect(client.evaluateRemote("beta")).rejects.toEqual(
      errorWith("EVALUATION_FAILED"),
    );
    await server.requested(2);
    await client.shutdown();
    await given;
    await expect(client.evaluateRemote("beta")).rejects.toEqual(errorWith("NOT_INITIALIZED"));
    expect(server.requests).toHaveLength(2);
  });

  it("leaves no timer behind", async () => {
    const server = new ScriptedServer(answers({ enabled: true, reason: "rollout" }));
    await clientFor(server).evaluateRemote("beta");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sends only values that count", async () => {
    const server = new ScriptedServer(answers({ enabled: true, reason: "rollout" }));
    const client = clientFor(server);
    const customAttributes = { plan: "pro", seats: 3n, since: new Date(), half: "\ud800" };
    const context = { userId: 7, country: "x\udc00", customAttributes };
    await client.evaluateRemote("beta", context as never);
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({
      flagKey: "beta",
      context: { customAttributes: { plan: "pro" } },
    });
  });

  it("has no limit that is too long for a timer", async () => {
    const late = held();
    const server = new ScriptedServer(late.answer);
    const timeoutMs = Number.MAX_SAFE_INTEGER;
    const client = clientFor(server, { timeoutMs });
    const answer = client.evaluateRemote("beta");
    await server.requested(1);
    await vi.advanceTimersByTimeAsync(60_000);
    await late.release(answers({ enabled: true, reason: "rollout" }));
    expect((await answer).enabled).toBe(true);
  });
});

describe("usage reports", () => {
  const isReport = ({ url }: TransportRequest) => url.endsWith("/sdk/v1/usage");

  /** A server that returns a configuration and accepts reports, which it collects. */
  function counting(...statuses: number[]) {
    const server = new ScriptedServer((request) =>
      isReport(request) ? status(statuses.shift() ?? 204)(request) : on(request),
    );
    const reports = () =>
      server.requests.filter(isReport).map(({ body }) => JSON.parse(body ?? "").counts);
    return { server, reports };
  }

  async function ready(server: ScriptedServer, reportUsage = true) {
    const client = await readyClient(server, { reportUsage });
    await vi.dynamicImportSettled();
    return client;
  }

  it("count the evaluations of each flag, once a minute", async () => {
    const { server, reports } = counting();
    const client = await ready(server);
    const reader = client.withContext({ country: "FR" });
    client.isEnabled("beta");
    client.getValue("beta");
    client.evaluate("ruled", { country: "FR" });
    client.evaluate("ruled", { country: "DE" });
    client.read("ruled");
    reader.read("ruled");
    reader.isEnabled("ruled");
    client.read("unknown");
    client.evaluateAll({});
    client.explain("beta");
    await vi.advanceTimersByTimeAsync(59_999);
    expect(reports()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(reports()).toEqual([
      [
        { flagKey: "beta", reason: "flag_enabled", enabled: true, count: 2 },
        { flagKey: "ruled", reason: "flag_enabled", enabled: true, count: 2 },
        { flagKey: "ruled", reason: "targeting_rule", enabled: false, count: 3 },
      ],
    ]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reports()).toHaveLength(1);
  });

  it("are off by default", async () => {
    const { server, reports } = counting();
    const client = await ready(server, false);
    client.isEnabled("beta");
    await vi.advanceTimersByTimeAsync(200_000);
    await client.shutdown();
    expect(reports()).toEqual([]);
  });

  /** Creates a client with the built-in transport, whose requests the server answers. */
  function builtIn(server: ScriptedServer, options: Partial<FeatureFlagsClientOptions> = {}) {
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      const { status, headers, body } = await server.send({ url, ...init } as TransportRequest);
      return new Response((body as string) ?? null, { status, headers: headers as Headers });
    });
    return new FeatureFlagsClient({ sdkKey: "pnk_test", pollIntervalMs: 0, ...options });
  }

  it("are on by default with the built-in transport, first after 60 seconds", async () => {
    vi.mocked(Math.random).mockReturnValue(0);
    const { server, reports } = counting();
    const client = builtIn(server);
    await client.initialize();
    // Before the code that counts is loaded.
    client.isEnabled("beta");
    await vi.dynamicImportSettled();
    await vi.advanceTimersByTimeAsync(59_999);
    expect(reports()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(reports()).toEqual([
      [{ flagKey: "beta", reason: "flag_enabled", enabled: true, count: 1 }],
    ]);
    client.isEnabled("beta");
    await client.shutdown();
    expect(reports()).toHaveLength(2);
  });

  it("can be turned off", async () => {
    const { server, reports } = counting();
    const client = builtIn(server, { reportUsage: false });
    await client.initialize();
    client.isEnabled("beta");
    await vi.advanceTimersByTimeAsync(200_000);
    await client.shutdown();
    expect(reports()).toEqual([]);
  });

  it.each([
    ["pnp_page", 0.099, 1],
    ["pnp_page", 0.1, 0],
    ["pnk_page", 0.999, 1],
  ])(
    "are sent with the key %s at the random number %d by %d page",
    async (sdkKey, random, sent) => {
      vi.stubGlobal("document", {});
      vi.mocked(Math.random).mockReturnValueOnce(random);
      const { server, reports } = counting();
      const client = await readyClient(server, { sdkKey, reportUsage: true });
      client.isEnabled("beta");
      await vi.dynamicImportSettled();
      await client.shutdown();
      expect(reports()).toHaveLength(sent);
    },
  );

  it.each([
    [0, [2]],
    [0.4, [2]],
    [0.5, [3, 1]],
  ])(
    "contain a tenth of the counts of a server with a public key, rounded at the random number %d",
    async (random, counts) => {
      const { server, reports } = counting();
      const draws = vi.mocked(Math.random).mock.calls.length;
      const client = clientFor(server, { sdkKey: "pnp_server", reportUsage: true });
      // A prerender of React may create a client, and must not be random.
      expect(vi.mocked(Math.random).mock.calls).toHaveLength(draws);
      await client.initialize();
      for (let time = 0; time < 25; time += 1) {
        client.isEnabled("beta");
      }
      for (let time = 0; time < 5; time += 1) {
        client.evaluate("ruled", { country: "FR" });
      }
      await vi.dynamicImportSettled();
      vi.mocked(Math.random).mockReturnValue(random);
      await client.shutdown();
      const reported = reports().flat();
      expect(reported.map(({ count }: { count: number }) => count)).toEqual(counts);
    },
  );

  it.each([403, 404])(
    "end for the session after %d, without a log line or an event",
    async (code) => {
      const { server, reports } = counting(503, code);
      const logger = new LogRecorder();
      const client = builtIn(server, { logger });
      await client.initialize();
      const events = eventsOf(client);
      for (let time = 0; time < 4; time += 1) {
        client.isEnabled("beta");
        await vi.dynamicImportSettled();
        await client.flush();
      }
      expect(reports()).toHaveLength(2);
      expect(events).toEqual([]);
      await vi.advanceTimersByTimeAsync(40_000);
      await client.shutdown();
      expect(reports()).toHaveLength(2);
      expect(logger.lines).toEqual([]);
    },
  );

  it("do not count what a reader peeks at", async () => {
    const { server, reports } = counting();
    const seen: unknown[] = [];
    const client = await readyClient(server, {
      reportUsage: true,
      fallbacks: { none: true },
      onEvaluate: ({ key }) => seen.push(key),
    });
    await vi.dynamicImportSettled();
    const reader = client.withContext({ country: "FR" });
    const peeked = ["beta", "ruled", "none", "unknown"].map((key) => reader.peek(key));
    expect([...peeked, seen]).toMatchObject([
      { enabled: true },
      { enabled: false },
      { reason: "fallback" },
      undefined,
      [],
    ]);
    expect(reader.read("ruled")).toBe(peeked[1]);
    await client.shutdown();
    expect(reports()).toEqual([
      [{ flagKey: "ruled", reason: "targeting_rule", enabled: false, count: 1 }],
    ]);
    expect(seen).toEqual(["ruled"]);
  });

  it("are repeated unchanged after a failure, but not after a refusal", async () => {
    const { server, reports } = counting(503, 429, 204, 204, 400, 204);
    const client = await ready(server);
    const minutes = [];
    for (let minute = 1; minute <= 5; minute += 1) {
      const before = reports().length;
      for (let time = 0; time < minute; time += 1) {
        client.isEnabled("beta");
      }
      await vi.advanceTimersByTimeAsync(60_000);
      minutes.push(
        reports()
          .slice(before)
          .map(([{ count }]) => count),
      );
    }
    expect(minutes).toEqual([[1], [1], [1, 5], [4], [5]]);
    const bodies = server.requests.filter(isReport).map(({ body }) => body);
    expect(new Set(bodies.slice(0, 3)).size).toBe(1);
    const ids = bodies.map((body) => JSON.parse(body ?? "").id);
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it("are sent one at a time, and again with the same ID without a response", async () => {
    const slow = held();
    const server = new ScriptedServer((request) =>
      isReport(request) ? slow.answer(request) : on(request),
    );
    const client = await ready(server);
    client.isEnabled("beta");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.requests.filter(isReport)).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(3_000);
    server.respondWith((request) => (isReport(request) ? status(204)(request) : on(request)));
    await client.shutdown();
    const [first, second, ...more] = server.requests.filter(isReport).map(({ body }) => body);
    expect(second).toBe(first);
    expect(more).toEqual([]);
  });

  it("are sent at shutdown, which waits for them, but not forever", async () => {
    const { server, reports } = counting();
    const client = await ready(server);
    client.isEnabled("beta");
    await client.shutdown();
    expect(reports()).toEqual([
      [{ flagKey: "beta", reason: "flag_enabled", enabled: true, count: 1 }],
    ]);
    expect(server.requests.at(-1)).toMatchObject({ keepalive: true });

    const slow = held();
    const silent = new ScriptedServer((request) =>
      isReport(request) ? slow.answer(request) : on(request),
    );
    const other = await ready(silent);
    other.isEnabled("beta");
    const ended = other.shutdown();
    await silent.requested(2);
    await vi.advanceTimersByTimeAsync(3_000);
    await ended;
  });

  it("are sent by flush(), which waits for them and never rejects", async () => {
    const { server, reports } = counting(204, 503);
    const client = await ready(server);
    await client.flush();
    expect(reports()).toEqual([]);
    for (const times of [1, 2]) {
      client.isEnabled("beta");
      await client.flush();
      expect(reports()).toHaveLength(times);
    }
    await client.shutdown();
    await client.flush();
    expect(reports()).toHaveLength(3);

    const other = await ready(server, false);
    other.isEnabled("beta");
    await other.flush();
    expect(reports()).toHaveLength(3);
  });

  it("are all sent at the end, even if some have failed before", async () => {
    const { server, reports } = counting(503, 503, 503);
    const client = await ready(server);
    client.isEnabled("beta");
    await vi.advanceTimersByTimeAsync(60_000);
    client.isEnabled("beta");
    client.isEnabled("beta");
    await client.shutdown();
    expect(reports().map(([{ count }]) => count)).toEqual([1, 1, 2]);
  });

  it("do not pile up if each request flushes during an outage", async () => {
    const { server, reports } = counting(...Array.from({ length: 20 }, () => 503));
    const client = await ready(server);
    for (let time = 0; time < 20; time += 1) {
      client.isEnabled("beta");
      await client.flush();
    }
    expect(reports()).toHaveLength(20);
    await client.flush();
    expect(reports().map(([{ count }]) => count)).toEqual([...Array(21).fill(1), 19]);
  });

  it("do not pile up if a page is hidden repeatedly while offline", async () => {
    const page = new EventTarget();
    vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
    const { server, reports } = counting(...Array.from({ length: 2_000 }, () => 503));
    const client = await ready(server);
    for (let time = 0; time < 60; time += 1) {
      client.isEnabled("beta");
      page.dispatchEvent(new Event("pagehide"));
      await vi.advanceTimersByTimeAsync(0);
    }
    const before = reports().length;
    page.dispatchEvent(new Event("pagehide"));
    expect(reports()).toHaveLength(before + 50);
    vi.unstubAllGlobals();
  });

  it("are sent when a page is closed", async () => {
    const page = new EventTarget();
    vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
    vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
    const { server, reports } = counting(204, 503);
    const client = await ready(server);
    const leave = () => page.dispatchEvent(new Event("pagehide"));
    client.isEnabled("beta");
    leave();
    await server.requested(2);
    expect(reports()).toEqual([
      [{ flagKey: "beta", reason: "flag_enabled", enabled: true, count: 1 }],
    ]);
    // The last report fails, and is not repeated.
    client.isEnabled("beta");
    await client.shutdown();
    leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(reports()).toHaveLength(2);
    vi.unstubAllGlobals();
  });

  it("outlive a page up to the limit of browsers, which applies to their total length", async () => {
    const flags = Array.from({ length: 500 }, (_, index) => flag(`flag_${index}`));
    const server = new ScriptedServer((request) =>
      isReport(request) ? status(503)(request) : configuration(flags)(request),
    );
    const client = await ready(server);
    for (const end of [() => client.flush(), () => client.shutdown()]) {
      for (const { key } of flags) {
        client.isEnabled(key);
      }
      await end();
    }
    // The last two are sent at the same time. Each has more than 30,000 characters.
    const keepalive = server.requests.filter(isReport).map(({ keepalive }) => keepalive);
    expect(keepalive).toEqual([true, true, false]);
  });

  it("count any number of flags, in reports that the server accepts", async () => {
    const flags = Array.from({ length: 2_500 }, (_, index) => flag(`flag_${index}`));
    const { server, reports } = counting();
    server.respondWith((request) =>
      isReport(request) ? status(204)(request) : configuration(flags)(request),
    );
    const client = await ready(server);
    for (const { key } of flags) {
      client.isEnabled(key);
    }
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reports().map((counts) => counts.length)).toEqual([1_000, 1_000, 500]);
    const keys = reports().flatMap((counts) => counts.map(({ flagKey }: never) => flagKey));
    expect(new Set(keys)).toEqual(new Set(flags.map(({ key }) => key)));
  });

  it("are bounded between two reports, with one warning about the rest", async () => {
    const flags = Array.from({ length: 50_002 }, (_, index) => flag(`flag_${index}`));
    const logger = new LogRecorder();
    const server = new ScriptedServer(configuration(flags));
    const client = await readyClient(server, { reportUsage: true, logger });
    await vi.dynamicImportSettled();
    /** Evaluates each flag this number of times, and returns the last count of each of the next reports. */
    const countsOf = async (times: number) => {
      for (const { key } of Array(times).fill(flags).flat()) {
        client.isEnabled(key);
      }
      const before = server.requests.length;
      await client.flush();
      const sent = server.requests.slice(before).map(({ body }) => JSON.parse(body ?? "").counts);
      return sent.map((counts) => counts.at(-1).count);
    };
    server.respondWith(status(204));
    expect(await countsOf(2)).toEqual(Array(50).fill(2));
    server.respondWith(status(503));
    expect(await countsOf(1)).toEqual(Array(50).fill(1));
    // The same reports again.
    expect(await countsOf(1)).toEqual(Array(50).fill(1));
    expect(logger.lines).toEqual([
      expect.stringContaining("50000 combinations of flag, reason and result"),
    ]);
  });
});

describe("staleIfError", () => {
  const options = { staleIfError: true, retries: 1 };

  it("serves flags past their TTL during an outage, but not after a refusal", async () => {
    const server = new ScriptedServer(on, unreachable());
    const client = await readyClient(server, options);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(client.isEnabled("beta")).toBe(true);
    expect(server.requests.length).toBeGreaterThan(10);
    server.respondWith(status(401));
    await vi.advanceTimersByTimeAsync(61_000);
    expect(client.read("beta")).toBeUndefined();
    server.respondWith(on);
    await client.refresh();
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("starts from a cache that is too old", async () => {
    const cache = new Map();
    await readyClient(new ScriptedServer(on), { cache });
    vi.setSystemTime(Date.now() + 3_600_000);
    const server = new ScriptedServer(unreachable());
    const client = clientFor(server, { ...options, cache });
    const initialized = client.initialize();
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(1_000);
    await initialized;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(client.isEnabled("beta")).toBe(true);
  });
});
