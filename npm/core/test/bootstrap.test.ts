import { FeatureFlagsClient } from "@pennon/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { exactTimers } from "../../test-kit/exact-timers.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  flagWithRollout,
  flagWithRule,
  held,
  optionsFor,
  ScriptedServer,
  status,
  unreachable,
} from "../../test-kit/scripted.ts";

const flags = [flag("__proto__"), flag("off", false), flagWithRule("ruled", "FR")];
const first = configuration(flags, 'W/"1"');
const second = configuration([flag("off"), flagWithRule("ruled", "FR")], 'W/"2"');
const french = { country: "FR", customAttributes: { plan: "pro" } };

exactTimers();

/** Returns a value after its transfer to another process. */
function posted<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

describe("a configuration as the bootstrap", () => {
  it.each([
    ["an object", { flags }],
    ["text", JSON.stringify({ flags })],
  ])("may be %s, and needs no request", async (_, bootstrap) => {
    const server = new ScriptedServer(second);
    const client = clientFor(server, { bootstrap, pollIntervalMs: 30_000 });
    const events = eventsOf(client);
    await client.initialize();
    expect(server.requests).toEqual([]);
    expect(client.isEnabled("__proto__")).toBe(true);
    expect(client.evaluate("ruled", french).reason).toBe("targeting_rule");
    await vi.advanceTimersByTimeAsync(30_000);
    expect(client.isEnabled("off")).toBe(true);
    expect(events).toEqual(["ready", "refresh:start", "change __proto__ off", "refresh:success"]);
  });

  it("expires like any other", async () => {
    const client = await readyClient(new ScriptedServer(unreachable()), {
      bootstrap: { flags },
      retries: 1,
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(client.isEnabled("off")).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(client.read("off")).toBeUndefined();
  });

  it("is absent from a snapshot in which it is null", async () => {
    const before = await readyClient(new ScriptedServer(first));
    const bootstrap = { ...posted(before.snapshot()), config: null } as never;
    const logger = new LogRecorder();
    const server = new ScriptedServer(second);
    const client = clientFor(server, { bootstrap, logger });
    expect(client.read("__proto__")?.enabled).toBe(true);
    await client.initialize();
    expect(server.requests).toHaveLength(1);
    expect(logger.lines).toEqual([]);
  });

  it("is ignored with a log message if it is invalid", async () => {
    const logger = new LogRecorder();
    const bootstrap = { flags: [flag("\ud83d")] };
    const client = await readyClient(new ScriptedServer(first), { bootstrap, logger });
    expect(client.isEnabled("off")).toBe(false);
    expect(logger.lines).toEqual([expect.stringContaining("error: The bootstrap")]);
  });

  it("is rejected if it cannot be written as JSON", () => {
    const circular: Record<string, unknown> = { flags };
    circular.self = circular;
    for (const bootstrap of [circular, { version: 1, flags: [], config: circular }]) {
      const options = optionsFor(new ScriptedServer(first), { bootstrap: bootstrap as never });
      expect(() => new FeatureFlagsClient(options)).toThrow(
        expect.objectContaining({
          code: "INVALID_OPTIONS",
          message: expect.stringContaining("bootstrap is not JSON"),
        }),
      );
    }
  });
});

describe("text as the bootstrap", () => {
  it("is rejected if it is not a config document", () => {
    const refused = [
      ["<html>", "not JSON"],
      ["null", "no flags"],
      ['{"flags":{}}', "no flags"],
      ['{"version":1,"flags":[]}', "JSON.parse()"],
    ] as const;
    for (const [bootstrap, sentence] of refused) {
      const options = optionsFor(new ScriptedServer(first), { bootstrap });
      expect(() => new FeatureFlagsClient(options)).toThrow(
        expect.objectContaining({
          code: "INVALID_OPTIONS",
          message: expect.stringContaining(sentence),
        }),
      );
    }
  });
});

describe("a snapshot", () => {
  it("transfers everything, which is available at once", async () => {
    const before = await readyClient(new ScriptedServer(first));
    const snapshot = posted(before.snapshot());
    expect(snapshot).toMatchObject({ version: 1, config: { flags }, etag: 'W/"1"' });

    const server = new ScriptedServer(status(304));
    const client = clientFor(server, { bootstrap: snapshot });
    expect(client.isReady()).toBe(false);
    expect(client.isEnabled("__proto__")).toBe(true);
    expect(client.withContext({}).isEnabled("off", true)).toBe(false);
    expect(client.read("ruled", french)).toBeUndefined();
    expect(() => client.evaluate("ruled", french)).toThrow("cannot be evaluated yet");
    await client.initialize();
    expect(client.evaluate("ruled", french)).toBe(before.evaluate("ruled", french));
    expect(server.requests).toEqual([]);
    await client.refresh();
    expect(server.tags).toEqual(['W/"1"']);
  });

  it("transfers the evaluations for one context, without rules", async () => {
    const before = await readyClient(new ScriptedServer(first));
    const snapshot = posted(before.withContext(french).snapshot());
    expect(JSON.stringify(snapshot)).not.toContain("conditions");

    const slow = held();
    const server = new ScriptedServer(slow.answer);
    const client = clientFor(server, { bootstrap: snapshot });
    const reader = client.withContext({ customAttributes: { plan: "pro" }, country: "FR" });
    const answer = reader.read("ruled");
    expect(answer).toEqual({ enabled: false, reason: "targeting_rule" });
    expect(client.evaluate("ruled", french)).toBe(answer);
    expect(client.read("ruled", { country: "DE" })).toBeUndefined();
    expect(client.withContext({ country: "FR" }).read("ruled")).toBeUndefined();
    expect(client.isEnabled("off")).toBe(false);
    expect(client.getValue("ruled")).toBe("flag_enabled");

    const initialized = client.initialize();
    await server.firstRequest();
    expect(reader.read("ruled")).toBe(answer);
    await slow.release(first);
    await initialized;
    expect(reader.read("ruled")).toBe(answer);
    expect(client.read("ruled", { country: "DE" })?.enabled).toBe(true);
  });

  describe("in a page", () => {
    const idle = vi.fn<(run: () => void, options: { timeout: number }) => void>();

    beforeEach(() => {
      vi.stubGlobal("document", {});
      vi.stubGlobal("requestIdleCallback", idle.mockReset());
    });

    afterEach(() => {
      vi.unstubAllGlobals();
    });

    async function initializing() {
      const before = await readyClient(new ScriptedServer(first));
      const bootstrap = posted(before.withContext(french).snapshot());
      const server = new ScriptedServer(first);
      const client = clientFor(server, { bootstrap });
      const initialized = client.initialize();
      await vi.advanceTimersByTimeAsync(1_000);
      return { client, server, initialized };
    }

    it("suffices until the page is idle", async () => {
      const { client, server, initialized } = await initializing();
      expect(client.evaluate("ruled", french).enabled).toBe(false);
      expect(client.isEnabled("off")).toBe(false);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(server.requests).toHaveLength(0);
      idle.mock.calls[0]?.[0]();
      await initialized;
      expect(server.requests).toHaveLength(1);
      expect(client.evaluate("ruled", { country: "DE" }).enabled).toBe(true);
    });

    it("suffices for at most two seconds in a page that is never idle", async () => {
      idle.mockImplementation((run, options) => void setTimeout(run, options?.timeout ?? 60_000));
      const { server, initialized } = await initializing();
      await vi.advanceTimersByTimeAsync(999);
      expect(server.requests).toHaveLength(0);
      await vi.advanceTimersByTimeAsync(1);
      await initialized;
      expect(server.requests).toHaveLength(1);
    });

    it("suffices for a moment in browsers that do not report idle moments", async () => {
      vi.stubGlobal("requestIdleCallback", undefined);
      const { server, initialized } = await initializing();
      await initialized;
      expect(server.requests).toHaveLength(1);
    });

    it.each<[string, (client: FeatureFlagsClient) => unknown]>([
      ["another context", (client) => client.read("ruled", { country: "DE" })],
      ["a reader that peeks", (client) => client.withContext({ country: "DE" }).peek("ruled")],
      ["an unknown flag", (client) => client.read("unknown")],
      ["refresh()", (client) => client.refresh()],
    ])("does not suffice for %s", async (_, request) => {
      const { client, server, initialized } = await initializing();
      const requested = request(client);
      await initialized;
      await requested;
      expect(server.requests.length).toBeGreaterThan(0);
      idle.mock.calls[0]?.[0]();
      expect(idle).toHaveBeenCalledOnce();
    });

    it("is all that a client has that is shut down before", async () => {
      const { client, server, initialized } = await initializing();
      const failed = expect(initialized).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
      await client.shutdown();
      await failed;
      idle.mock.calls[0]?.[0]();
      await vi.advanceTimersByTimeAsync(1_000);
      expect(server.requests).toHaveLength(0);
    });
  });

  it("is served while the server is unreachable, until the usual TTL expires", async () => {
    const before = await readyClient(new ScriptedServer(first));
    const bootstrap = posted(before.withContext(french).snapshot());
    const server = new ScriptedServer(unreachable());
    const client = clientFor(server, { bootstrap, retries: 1 });
    const initialized = client.initialize();
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(1_000);
    await initialized;
    expect(client.isReady()).toBe(true);
    expect(client.evaluate("ruled", french).enabled).toBe(false);
    await vi.advanceTimersByTimeAsync(70_000);
    expect(client.read("off")).toBeUndefined();
  });

  it.each([401, 503])("expires after a failure with status %i", async (code) => {
    const before = await readyClient(new ScriptedServer(first));
    const bootstrap = posted(before.withContext(french).snapshot());
    const server = new ScriptedServer(status(code), unreachable());
    const options = { bootstrap, cacheTtlMs: 30_000, retries: 1, logger: new LogRecorder() };
    const client = clientFor(server, options);
    let notified = 0;
    const initialized = client.initialize({ retry: "background" }).catch((error) => error.code);
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await initialized).toBe(code === 401 ? "INITIALIZATION_FAILED" : undefined);
    client.subscribe(() => {
      notified += 1;
    });
    await vi.advanceTimersByTimeAsync(28_000);
    expect(client.read("off")?.enabled).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(client.read("off")).toBeUndefined();
    expect(notified).toBe(1);
    // Expired flags do not make a client ready.
    await vi.advanceTimersByTimeAsync(100_000);
    expect(client.isReady()).toBe(code === 503);
  });

  it("reports the flags that have changed since", async () => {
    const flags = [flag("same"), flag("other"), flagWithRollout("rolled", 0)];
    const before = await readyClient(new ScriptedServer(configuration(flags)));
    const bootstrap = posted(before.withContext({}).snapshot());
    const now = [flag("same"), flag("other", false), flagWithRollout("rolled", 0), flag("new")];
    const client = clientFor(new ScriptedServer(configuration(now)), { bootstrap });
    const events = eventsOf(client);
    await client.initialize();
    // A flag with rules or a rollout could not be compared, because only its evaluation was known.
    expect(events).toEqual(["ready", "change other rolled new"]);
  });

  it("reports no change if a snapshot starts with its own configuration", async () => {
    const flags = [flag("same"), flagWithRule("ruled", "FR")];
    const before = await readyClient(new ScriptedServer(configuration(flags)));
    const client = clientFor(new ScriptedServer(unreachable()), {
      bootstrap: posted(before.snapshot()),
    });
    const events = eventsOf(client);
    await client.initialize();
    expect(events).toEqual(["ready"]);
    expect(client.evaluate("ruled", french).enabled).toBe(false);
  });

  it("reports no change after a listener of `ready` has shut down the client", async () => {
    const before = await readyClient(new ScriptedServer(configuration([flag("beta")])));
    const bootstrap = posted(before.withContext({}).snapshot());
    const server = new ScriptedServer(configuration([flag("beta", false)]));
    const client = clientFor(server, { bootstrap });
    const events = eventsOf(client);
    client.on("ready", () => void client.shutdown());
    await client.initialize();
    expect(events).toEqual(["ready", "shutdown"]);
  });

  it("requires a ready client", () => {
    const client = new FeatureFlagsClient({ sdkKey: "k" });
    const error = expect.objectContaining({ code: "NOT_INITIALIZED" });
    expect(() => client.snapshot()).toThrow(error);
    expect(client.withContext({}).snapshot().flags).toEqual([]);
  });
});

describe("the snapshot of a reader", () => {
  it("contains only what rules can see", async () => {
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const server = await readyClient(new ScriptedServer(first), { logger });
    const row = {
      ...french,
      passwordHash: "secret",
      customAttributes: { ...french.customAttributes, since: new Date(0), id: 10n, self: first },
    };
    const { subject, flags } = posted(server.withContext(row as object).snapshot());
    expect(subject?.context).toEqual(french);
    await vi.dynamicImportSettled();
    expect(logger.warn.mock.calls[0]?.[0]).toContain("'passwordHash' of a context is ignored");
    const page = FeatureFlagsClient.fromSnapshot({
      version: 1,
      flags,
      ...(subject && { subject }),
    });
    expect(page.read("ruled", row as object)).toEqual(server.read("ruled", french));
  });

  it("contains the fallbacks of flags that do not exist", async () => {
    const fallbacks = { absent: true, off: true };
    const server = await readyClient(new ScriptedServer(first), { fallbacks });
    const page = FeatureFlagsClient.fromSnapshot(posted(server.withContext(french).snapshot()));
    expect(page.read("absent")).toEqual({ enabled: true, reason: "fallback" });
    expect(page.read("off")).toEqual(server.read("off"));
  });
});

describe("a client from a snapshot", () => {
  it("needs one that is not null, as if nothing was stored", () => {
    expect(() => FeatureFlagsClient.fromSnapshot(JSON.parse("null"))).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS" }),
    );
    expect(FeatureFlagsClient.fromSnapshot(undefined, { on: true }).isEnabled("on")).toBe(true);
  });

  it("serves it permanently, and sends no request", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    const server = await readyClient(new ScriptedServer(first));
    const snapshot = posted(server.withContext(french).snapshot());
    const client = FeatureFlagsClient.fromSnapshot(snapshot, { absent: true });
    expect(client.isReady()).toBe(true);
    await client.initialize();
    await client.refresh();
    await vi.advanceTimersByTimeAsync(24 * 3_600_000);
    const reader = client.withContext(french);
    expect(reader.read("ruled")).toEqual({ enabled: false, reason: "targeting_rule" });
    expect(reader.isEnabled("__proto__")).toBe(true);
    expect(reader.isEnabled("absent")).toBe(true);
    expect(client.withContext({ country: "DE" }).read("ruled")).toBeUndefined();
    await expect(client.evaluateRemote("off")).rejects.toMatchObject({ code: "EVALUATION_FAILED" });
    expect(fetched).not.toHaveBeenCalled();
    await client.shutdown();
    expect(client.isReady()).toBe(false);
    await expect(client.initialize()).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
  });
});
