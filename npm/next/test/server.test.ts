import { FeatureFlagsClient, type Transport, VERSION } from "@pennon/core";
import { getFeatureFlags, streamFeatureFlags } from "@pennon/next/server";
import { connection } from "next/server.js";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  flagWithRule,
  held,
  ScriptedServer,
  status,
  unreachable,
} from "../../test-kit/scripted.ts";

vi.mock("next/server.js", () => ({ connection: vi.fn(async () => {}) }));

const flags = configuration([flag("banner"), flagWithRule("ruled", "FR")]);

let count = 0;
let sdkKey: string;

/**
 * Returns the process as in a runtime without signals. The rest stays, because Vitest uses it to report results
 * meanwhile.
 */
function withoutSignals(): object {
  return Object.create(process, { listenerCount: { value: undefined } });
}

beforeEach(() => {
  count += 1;
  sdkKey = `pnk_${count}`;
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

const from = (transport: Transport) => ({ sdkKey, transport, pollIntervalMs: 0 });

describe("the flags of a request", () => {
  it("are evaluated for its context", async () => {
    const options = from(new ScriptedServer(flags));
    const inFrance = await getFeatureFlags({ country: "FR" }, options);
    const inGermany = await getFeatureFlags({ country: "DE" }, options);
    expect([inFrance.isEnabled("ruled"), inGermany.isEnabled("ruled")]).toEqual([false, true]);
    expect(inFrance.isEnabled("no_such_flag")).toBe(false);
  });

  it("pass their evaluations to a page, without rules", async () => {
    const context = { country: "FR" };
    const server = await getFeatureFlags(context, from(new ScriptedServer(flags)));
    const snapshot = JSON.parse(JSON.stringify(server.snapshot()));
    expect(snapshot.config).toBeUndefined();
    const page = new FeatureFlagsClient({ sdkKey: "none", bootstrap: snapshot });
    expect(page.withContext(context).read("ruled")).toEqual(server.read("ruled"));
    expect(page.withContext(context).read("banner")).toEqual(server.read("banner"));
  });

  it("are not fetched before a request", async () => {
    const server = new ScriptedServer(flags);
    vi.mocked(connection).mockRejectedValueOnce(new Error("no request"));
    await expect(getFeatureFlags({}, from(server))).rejects.toThrow("no request");
    expect(server.requests).toEqual([]);
  });

  it("are refused to a build, which renders a page for no request only with force-static", async () => {
    const server = new ScriptedServer(flags);
    vi.stubEnv("NEXT_PHASE", "phase-production-build");
    await expect(getFeatureFlags({}, from(server))).rejects.toThrow('dynamic = "force-static"');
    await expect(streamFeatureFlags({}, from(server))).rejects.toThrow('dynamic = "force-static"');
    expect(server.requests).toEqual([]);
  });
});

describe("the client", () => {
  it("is shared by all requests with the same key", async () => {
    const server = new ScriptedServer(flags);
    await Promise.all([1, 2, 3].map(() => getFeatureFlags({}, from(server))));
    await getFeatureFlags({}, from(server));
    expect(server.requests).toHaveLength(1);
  });

  it("is separate for another key or another address", async () => {
    const server = new ScriptedServer(flags);
    await getFeatureFlags({}, from(server));
    await getFeatureFlags({}, { ...from(server), sdkKey: `${sdkKey}_other` });
    await getFeatureFlags({}, { ...from(server), baseUrl: "https://flags.example.com" });
    expect(server.requests).toHaveLength(3);
  });

  it("survives a reload of its module", async () => {
    const server = new ScriptedServer(flags);
    await getFeatureFlags({}, from(server));
    vi.resetModules();
    const again = await import("@pennon/next/server");
    expect(again.getFeatureFlags).not.toBe(getFeatureFlags);
    const reader = await again.getFeatureFlags({}, from(server));
    expect(reader.isEnabled("banner")).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it("names this package in its requests", async () => {
    const server = new ScriptedServer(flags);
    await getFeatureFlags({}, from(server));
    expect(server.requests[0]?.headers["X-Pennon-Client"]).toBe(`@pennon/next/${VERSION}`);
  });

  it("reports usage, unless it has a transport of its own", async () => {
    vi.useFakeTimers();
    const requests: string[] = [];
    vi.stubGlobal("fetch", async (url: string) => {
      requests.push(url.slice(url.lastIndexOf("/") + 1));
      const flags = JSON.stringify({ flags: [{ ...flag("banner"), ttlOverrideSeconds: 86_400 }] });
      return new Response(flags, { headers: { ETag: 'W/"1"' } });
    });
    const reader = await getFeatureFlags({}, { sdkKey, pollIntervalMs: 0 });
    await vi.dynamicImportSettled();
    reader.isEnabled("banner");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(requests).toEqual(["config", "usage"]);

    const server = new ScriptedServer(flags);
    const other = await getFeatureFlags({}, { ...from(server), sdkKey: `${sdkKey}_other` });
    other.isEnabled("banner");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.requests.map(({ method }) => method)).not.toContain("POST");
  });

  it("takes key and address from the environment", async () => {
    const server = new ScriptedServer(flags);
    vi.stubEnv("PENNON_SDK_KEY", sdkKey);
    vi.stubEnv("PENNON_URL", "https://flags.example.com");
    await getFeatureFlags({}, { transport: server });
    const [request] = server.requests;
    expect(request?.url).toMatch(/^https:\/\/flags\.example\.com\//);
    expect(request?.headers.Authorization).toBe(`Bearer ${sdkKey}`);
  });

  it("names the missing key", async () => {
    vi.stubEnv("PENNON_SDK_KEY", undefined);
    await expect(getFeatureFlags()).rejects.toThrow(/sdkKey must be the SDK key/);
  });
});

describe("a server that is down or refuses the key", () => {
  it("leaves fallbacks, and no error", async () => {
    const options = { ...from(new ScriptedServer(unreachable())), retries: 1, retryDelayMs: 0 };
    const reader = await getFeatureFlags({}, { ...options, fallbacks: { banner: true } });
    expect(reader.isEnabled("banner")).toBe(true);
    expect(reader.isEnabled("ruled")).toBe(false);
    const page = FeatureFlagsClient.fromSnapshot(reader.snapshot()).withContext({});
    expect(page.readAll()).toEqual({ banner: { enabled: true, reason: "fallback" } });
  });

  it.each([
    ["the logger", true],
    ["the console, if there is no logger,", false],
  ])("is reported to %s", async (_what, hasLogger) => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const options = { ...from(new ScriptedServer(status(401))), ...(hasLogger && { logger }) };
    await getFeatureFlags({}, options);
    const message = expect.stringContaining("Pennon rejected the sdkKey");
    expect(hasLogger ? logger.warn : warn).toHaveBeenCalledWith(message);
    expect(hasLogger ? warn : logger.warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it("is reported to the console if it refuses the key later", async () => {
    vi.useFakeTimers();
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const server = new ScriptedServer(flags, status(401));
    await getFeatureFlags({}, { ...from(server), pollIntervalMs: 1_000 });
    expect(warn).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(server.requests.length).toBeGreaterThan(2);
    expect(warn.mock.calls).toEqual([[expect.stringContaining("rejected the sdkKey")]]);
    warn.mockRestore();
  });

  it("delays only the first page, by at most one attempt", async () => {
    vi.useFakeTimers();
    const options = from(new ScriptedServer(held().answer));
    const first = vi.fn();
    void getFeatureFlags({}, { ...options, timeoutMs: 500 }).then(first);
    await vi.advanceTimersByTimeAsync(499);
    expect(first).not.toHaveBeenCalled();
    // The engine is loaded in real time.
    await vi.waitFor(() => expect(first).toHaveBeenCalled(), { interval: 1 });
    const reader = await getFeatureFlags({}, options);
    expect(reader.isEnabled("banner")).toBe(false);
  });

  it("delays the first page by at most three seconds by default", async () => {
    vi.useFakeTimers();
    const first = vi.fn();
    const options = { ...from(new ScriptedServer(held().answer)), logger: new LogRecorder() };
    void getFeatureFlags({}, options).then(first);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(first).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(first).toHaveBeenCalled(), { interval: 1 });
  });

  it("is noticed when it is back, also by existing readers", async () => {
    vi.useFakeTimers();
    const server = new ScriptedServer(unreachable());
    const options = { ...from(server), retries: 1, retryDelayMs: 0 };
    const reader = getFeatureFlags({}, options);
    await vi.advanceTimersByTimeAsync(100);
    expect((await reader).isEnabled("banner")).toBe(false);
    server.respondWith(flags);
    await vi.advanceTimersByTimeAsync(30_000);
    expect((await reader).isEnabled("banner")).toBe(true);
  });
});

describe("the stream for pages that follow the flags", () => {
  const polling = (server: ScriptedServer) => ({ ...from(server), pollIntervalMs: 1_000 });

  async function open(country: string, server: ScriptedServer) {
    return follow(await streamFeatureFlags({ country }, polling(server)));
  }

  /** Reads events, and returns the latest values of the two flags. */
  function follow(response: Response) {
    const body = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const events: string[] = [];
    const ended = (async () => {
      for (let next = await body?.read(); !next?.done; next = await body?.read()) {
        events.push(next?.value ?? "");
      }
    })();
    const said = () =>
      events.map((event) => {
        const { flags, subject } = JSON.parse(/^data: (.*)\n\n$/.exec(event)?.[1] ?? "{}");
        return [...(flags ?? []), ...(subject?.flags ?? [])]
          .map(({ key, enabled }) => `${key} ${enabled}`)
          .join();
      });
    return { response, said, events, ended, close: () => body?.cancel() };
  }

  /** Counts the subscriptions to the shared client. */
  async function spyOnSubscribe(server: ScriptedServer) {
    await getFeatureFlags({}, polling(server));
    const shared = Reflect.get(globalThis, Symbol.for(`@pennon/next ${VERSION}`));
    return vi.spyOn([...shared.values()].at(-1).client, "subscribe");
  }

  beforeEach(() => void vi.useFakeTimers());

  it("sends the evaluations for its context, now and after changes", async () => {
    const server = new ScriptedServer(flags);
    const stream = await open("FR", server);
    await vi.advanceTimersByTimeAsync(0);
    expect(stream.said()).toEqual(["banner true,ruled true,ruled false"]);
    const off = configuration([flag("banner", false), flagWithRule("ruled", "FR")], '"2"');
    server.respondWith(off);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(stream.said().slice(1)).toEqual(["banner false,ruled true,ruled false"]);
    await stream.close();
  });

  it("does not send changes that affect only other contexts", async () => {
    const server = new ScriptedServer(flags);
    const stream = await open("FR", server);
    const { rules } = flagWithRule("ruled", "DE");
    const forFrance = flagWithRule("ruled", "FR");
    const forBoth = { ...forFrance, rules: [...forFrance.rules, ...rules] };
    const germany = await getFeatureFlags({ country: "DE" }, polling(server));
    expect(germany.isEnabled("ruled")).toBe(true);
    server.respondWith(configuration([flag("banner"), forBoth], '"2"'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(germany.isEnabled("ruled")).toBe(false);
    expect(stream.events).toHaveLength(1);
    await stream.close();
  });

  it("sends heartbeats, and is neither cached nor buffered by proxies", async () => {
    const stream = await open("FR", new ScriptedServer(flags));
    expect(Object.fromEntries(stream.response.headers)).toEqual({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      connection: "close",
      "x-accel-buffering": "no",
    });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(stream.events.at(-1)).toBe(":\n\n");
    await stream.close();
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "does not delay the server's shutdown after %s, also if a page was closed before",
    async (signal) => {
      const others = vi.fn();
      process.once(signal, others);
      const server = new ScriptedServer(flags);
      const closed = await open("FR", server);
      const stream = await open("FR", server);
      await closed.close();
      const before = vi.getTimerCount();
      process.emit(signal);
      await stream.ended;
      expect(others).toHaveBeenCalledOnce();
      expect(vi.getTimerCount()).toBe(before - 1);
      await (await open("FR", server)).ended;
    },
  );

  it("ends after a minute in a runtime without signals", async () => {
    vi.stubGlobal("process", withoutSignals());
    const stream = await open("FR", new ScriptedServer(flags));
    const closed = await open("FR", new ScriptedServer(flags));
    const before = vi.getTimerCount();
    await closed.close();
    // The heartbeat and the end.
    expect(vi.getTimerCount()).toBe(before - 2);
    await vi.advanceTimersByTimeAsync(60_000);
    await stream.ended;
  });

  it("does not handle signals without another listener, which end the process", async () => {
    const before = process.listenerCount("SIGTERM");
    const stream = await open("FR", new ScriptedServer(flags));
    expect(process.listenerCount("SIGTERM")).toBe(before);
    await stream.close();
  });

  it("holds nothing until its first read, because Next.js does not cancel an unread response", async () => {
    vi.stubGlobal("process", withoutSignals());
    const server = new ScriptedServer(flags);
    const subscribe = await spyOnSubscribe(server);
    const before = vi.getTimerCount();
    const response = await streamFeatureFlags({ country: "FR" }, polling(server));
    const unread = await streamFeatureFlags({ country: "FR" }, polling(server));
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(before);
    expect(subscribe).not.toHaveBeenCalled();

    server.respondWith(configuration([flag("banner", false)], '"2"'));
    await vi.advanceTimersByTimeAsync(90_000);
    const stream = follow(response);
    await vi.advanceTimersByTimeAsync(0);
    expect(stream.said()).toEqual(["banner false"]);
    expect(subscribe).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(before + 2);
    let hasEnded = false;
    void stream.ended.then(() => (hasEnded = true));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(hasEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await stream.ended;
    await unread.body?.cancel();
    expect(vi.getTimerCount()).toBe(before);
  });

  it("keeps only the newest flags for a page that reads slowly", async () => {
    const server = new ScriptedServer(flags);
    const response = await streamFeatureFlags({}, polling(server));
    const body = response.body?.getReader();
    const read = async () => new TextDecoder().decode((await body?.read())?.value);
    expect(await read()).toContain('"banner"');
    for (const index of [1, 2, 3, 4]) {
      server.respondWith(configuration([flag(`changed_${index}`)], `"${index}"`));
      await vi.advanceTimersByTimeAsync(30_000);
    }
    expect(await read()).toContain("changed_1");
    expect(await read()).toContain("changed_4");
    const next = read();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await next).toBe(":\n\n");
    await body?.cancel();
  });

  it("leaves nothing behind when the page is closed", async () => {
    const server = new ScriptedServer(flags);
    const logger = new LogRecorder();
    await getFeatureFlags({}, { ...polling(server), logger });
    const stream = await open("FR", server);
    await vi.advanceTimersByTimeAsync(0);
    const before = vi.getTimerCount();
    await stream.close();
    expect(vi.getTimerCount()).toBe(before - 1);
    server.respondWith(configuration([flag("banner", false)], '"2"'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stream.events).toHaveLength(1);
    expect(logger.lines).toEqual([]);
  });
});

describe("requests", () => {
  function ofNext(answer: (url: string) => Response | Promise<Response>) {
    const original = vi.fn<typeof fetch>(async (url) => answer(String(url)));
    const patched = Object.assign(vi.fn<typeof fetch>(), { _nextOriginalFetch: original });
    vi.stubGlobal("fetch", patched);
    onTestFinished(() => expect(patched).not.toHaveBeenCalled());
    return original;
  }

  it("bypass the caches of Next.js", async () => {
    const body = JSON.stringify({ flags: [flag("banner")] });
    const original = ofNext(() => new Response(body, { headers: { ETag: '"1"' } }));
    const reader = await getFeatureFlags({}, { sdkKey, pollIntervalMs: 0 });
    expect(reader.isEnabled("banner")).toBe(true);
    expect(original.mock.calls.map(([, init]) => init?.cache)).toEqual(["no-store"]);
  });

  it("for the stream bypass them too", async () => {
    const body = JSON.stringify({ flags: [flag("banner")] });
    const original = ofNext(() => new Response(body, { headers: { ETag: '"1"' } }));
    await getFeatureFlags({}, { sdkKey, streaming: true, pollIntervalMs: 0 });
    await vi.waitFor(() => expect(original).toHaveBeenCalledTimes(2));
    const [url, init] = original.mock.lastCall ?? [];
    expect(url).toMatch(/\/stream$/);
    expect(init).toMatchObject({ cache: "no-store", signal: expect.any(AbortSignal) });
  });

  it("have their body, and are aborted after a timeout", async () => {
    vi.useFakeTimers();
    const body = JSON.stringify({ flags: [flag("banner")] });
    const original = ofNext((url) =>
      url.endsWith("/usage") ? new Promise<Response>(() => {}) : new Response(body),
    );
    const reader = await getFeatureFlags({}, { sdkKey, pollIntervalMs: 0, cacheTtlMs: 86_400_000 });
    await vi.dynamicImportSettled();
    reader.isEnabled("banner");
    await vi.advanceTimersByTimeAsync(60_000);
    const init = original.mock.lastCall?.[1];
    expect(JSON.parse(String(init?.body)).counts).toMatchObject([{ flagKey: "banner", count: 1 }]);
    expect(init?.signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(init?.signal?.aborted).toBe(true);
  });

  it("cancel a body that is not needed", async () => {
    const cancel = vi.fn();
    const original = ofNext(() => new Response(new ReadableStream({ cancel }), { status: 403 }));
    const options = { sdkKey, pollIntervalMs: 0, retries: 1, retryDelayMs: 0 };
    const reader = await getFeatureFlags({}, options);
    expect(reader.isEnabled("banner")).toBe(false);
    expect(original).toHaveBeenCalled();
    expect(cancel).toHaveBeenCalled();
  });

  it("use the application's own transport, if any", async () => {
    ofNext(() => new Response());
    const server = new ScriptedServer(status(401));
    await getFeatureFlags({}, from(server));
    expect(server.requests).not.toEqual([]);
  });
});
