import { FeatureFlagsClient } from "@pennon/core";
import { describe, expect, it, vi } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { exactTimers } from "../../test-kit/exact-timers.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  held,
  malformed,
  optionsFor,
  ScriptedServer,
  status,
  timerIsSet,
  unreachable,
} from "../../test-kit/scripted.ts";
import { failToLoad } from "./engines.ts";

const on = configuration([flag("beta")]);
const failed = expect.objectContaining({ code: "INITIALIZATION_FAILED" });

exactTimers();

/** The outcome of the promise, once it is settled. */
function outcomeOf(promise: Promise<void>): { outcome: unknown } {
  const found = { outcome: undefined as unknown };
  promise.then(
    () => {
      found.outcome = "done";
    },
    (error) => {
      found.outcome = error;
    },
  );
  return found;
}

describe("initialize()", () => {
  it("requests the flags before the engine is loaded", async () => {
    const server = new ScriptedServer(on);
    const client = clientFor(server);
    const initialized = client.initialize();
    await Promise.resolve();
    expect(server.requests).toHaveLength(1);
    await initialized;
    expect(server.requests).toHaveLength(1);
  });

  it("fails after timeoutMs, however many attempts are left", async () => {
    const server = new ScriptedServer(held().answer);
    const client = clientFor(server);
    const found = outcomeOf(client.initialize({ timeoutMs: 1_000 }));
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(999);
    expect(found.outcome).toBeUndefined();
    expect(client.error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(found.outcome).toEqual(failed);
    expect(client.error).toBe(found.outcome);
    expect(server.requests[0]?.signal.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(server.requests).toHaveLength(1);
    server.respondWith(on);
    await client.initialize();
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.error).toBeUndefined();
    server.respondWith(status(401));
    const refused = await client.refresh().catch((error) => error);
    expect(client.error?.message).toBe(refused.message);
    await client.shutdown();
    expect(client.error?.code).toBe("NOT_INITIALIZED");
  });

  describe("with an engine that is loaded late", () => {
    // The package's types do not show it.
    const { loadEngine } = FeatureFlagsClient as unknown as { loadEngine(): Promise<unknown> };
    let arrive = () => {};

    class LateClient extends FeatureFlagsClient {
      static loadEngine = async () => {
        await new Promise<void>((resolve) => {
          arrive = resolve;
        });
        return loadEngine();
      };
    }

    /** Lets the engine be loaded. */
    const load = async () => {
      arrive();
      await vi.dynamicImportSettled();
      await vi.advanceTimersByTimeAsync(10);
    };

    it("fails after timeoutMs, and starts only when it is called again", async () => {
      const server = new ScriptedServer(on);
      const client = new LateClient(optionsFor(server));
      const events = eventsOf(client);
      const found = outcomeOf(client.initialize({ timeoutMs: 1_000 }));
      await vi.advanceTimersByTimeAsync(999);
      expect(found.outcome).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      expect(found.outcome).toEqual(failed);
      expect(client.error).toBe(found.outcome);
      expect(server.requests[0]?.signal.aborted).toBe(true);
      await load();
      expect(events).toEqual([]);
      await client.initialize({ timeoutMs: 1_000 });
      await vi.advanceTimersByTimeAsync(1_000);
      expect(client.isEnabled("beta")).toBe(true);
      expect(client.error).toBeUndefined();
      expect(events).toEqual(["ready"]);
      await client.shutdown();
    });

    it("continues after timeoutMs, with retry: background", async () => {
      const logger = new LogRecorder();
      const client = new LateClient(optionsFor(new ScriptedServer(on), { logger }));
      const events = eventsOf(client);
      const options = { timeoutMs: 1_000, retry: "background" } as const;
      await Promise.all([
        expect(client.initialize(options)).rejects.toEqual(failed),
        vi.advanceTimersByTimeAsync(1_000),
      ]);
      const again = outcomeOf(client.initialize());
      await load();
      await vi.waitFor(() => expect(again.outcome).toBe("done"));
      expect(client.isEnabled("beta")).toBe(true);
      expect(events).toEqual(["ready"]);
      expect(logger.lines).toEqual([]);
      await client.shutdown();
    });

    it("limits the requests to the rest of the time", async () => {
      const client = new LateClient(optionsFor(new ScriptedServer(held().answer)));
      const found = outcomeOf(client.initialize({ timeoutMs: 1_000 }));
      await vi.advanceTimersByTimeAsync(600);
      arrive();
      await timerIsSet();
      await vi.advanceTimersByTimeAsync(399);
      expect(found.outcome).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      expect(found.outcome).toEqual(failed);
      await client.shutdown();
    });

    it("serves a bootstrap after timeoutMs", async () => {
      const bootstrap = {
        version: 1,
        flags: [{ ...flag("beta"), reason: "flag_enabled", targeted: false }],
      };
      const client = new LateClient(
        optionsFor(new ScriptedServer(on), { bootstrap: bootstrap as never }),
      );
      const events = eventsOf(client);
      await Promise.all([
        client.initialize({ timeoutMs: 1_000 }),
        vi.advanceTimersByTimeAsync(1_000),
      ]);
      expect(client.isEnabled("beta")).toBe(true);
      await load();
      await vi.waitFor(() => expect(events).toContain("refresh:success"));
      expect(events).toEqual(["ready", "refresh:start", "refresh:success"]);
      await client.shutdown();
    });
  });

  describe("with an engine that cannot be loaded at first", () => {
    it("fails with the cause, aborts its request, and can then be repeated", async () => {
      const cause = new Error("no such file");
      failToLoad(cause);
      const logger = new LogRecorder();
      const server = new ScriptedServer(held().answer, on);
      const client = clientFor(server, { logger });
      const error = await client.initialize().catch((error) => error);
      expect(error).toMatchObject({ code: "INITIALIZATION_FAILED", cause });
      expect(client.error).toBe(error);
      expect(server.requests[0]?.signal.aborted).toBe(true);
      await client.initialize();
      expect(client.isEnabled("beta")).toBe(true);
      expect(server.requests).toHaveLength(2);
      expect(logger.lines).toEqual([]);
    });

    it("loads it every half minute with retry: background, and logs further failures", async () => {
      failToLoad(new Error("first"), new Error("second"));
      const logger = new LogRecorder();
      const client = clientFor(new ScriptedServer(on), { logger });
      const events = eventsOf(client);
      await expect(client.initialize({ retry: "background" })).rejects.toEqual(failed);
      expect(logger.lines).toEqual([]);
      await vi.advanceTimersByTimeAsync(30_000);
      expect(logger.lines).toEqual([expect.stringMatching(/^error: .*could not be loaded/)]);
      const ready = new Promise((resolve) => client.on("ready", resolve));
      await vi.advanceTimersByTimeAsync(30_000);
      await ready;
      expect(client.isEnabled("beta")).toBe(true);
      expect(events).toEqual(["ready"]);
      expect(logger.lines).toHaveLength(1);
    });
  });

  it("starts from the cache after timeoutMs", async () => {
    const cache = new Map();
    await readyClient(new ScriptedServer(on), { cache });
    const server = new ScriptedServer(held().answer);
    const client = clientFor(server, { cache });
    const initialized = client.initialize({ timeoutMs: 1_000, retry: "forever" });
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(1_000);
    await initialized;
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("waits for a server that starts later, with retry: forever", async () => {
    const logger = new LogRecorder();
    const server = new ScriptedServer(unreachable());
    const client = clientFor(server, { logger });
    const events = eventsOf(client);
    const found = outcomeOf(client.initialize({ retry: "forever" }));
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(300_000);
    expect(server.requests.length).toBeGreaterThan(10);
    expect(found.outcome).toBeUndefined();
    expect(logger.lines).toEqual([expect.stringContaining("keeps trying")]);
    server.respondWith(on);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(found.outcome).toBe("done");
    expect(events).toEqual(["ready"]);
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("keeps trying after timeoutMs, with retry: forever", async () => {
    const server = new ScriptedServer(status(503));
    const client = clientFor(server);
    const events = eventsOf(client);
    const found = outcomeOf(client.initialize({ timeoutMs: 5_000, retry: "forever" }));
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(found.outcome).toEqual(failed);
    expect(client.isReady()).toBe(false);
    const again = outcomeOf(client.initialize());
    server.respondWith(on);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(client.isReady()).toBe(true);
    expect(again.outcome).toBe("done");
    expect(events).toEqual(["ready"]);
  });

  it("rejects and keeps trying in the background after all attempts have failed", async () => {
    const logger = new LogRecorder();
    const server = new ScriptedServer(unreachable());
    const options = optionsFor(server, { logger, retries: 2, retryDelayMs: 0 });
    const client = new FeatureFlagsClient(options);
    const events = eventsOf(client);
    const found = outcomeOf(client.initialize({ retry: "background" }));
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(10);
    expect(found.outcome).toEqual(failed);
    expect(server.requests).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(60_000);
    // It waits even without a delay between the attempts of the call.
    expect(server.requests).toHaveLength(7);
    expect(logger.lines).toEqual([expect.stringContaining("keeps trying")]);
    server.respondWith(on);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(client.isEnabled("beta")).toBe(true);
    expect(events).toEqual(["ready"]);
    await client.shutdown();
  });

  it("rejects at once if the options are wrong, and still keeps trying", async () => {
    for (const retry of ["background", "forever"] as const) {
      for (const answer of [status(401), status(404), malformed()]) {
        const server = new ScriptedServer(answer);
        const client = clientFor(server);
        await expect(client.initialize({ retry })).rejects.toEqual(failed);
        expect(server.requests).toHaveLength(1);
        server.respondWith(on);
        await vi.advanceTimersByTimeAsync(60_000);
        expect(client.isEnabled("beta")).toBe(true);
        await client.shutdown();
      }
    }
  });

  it("logs the cause of missing flags if no call waits for them", async () => {
    const logger = new LogRecorder();
    const server = new ScriptedServer(unreachable());
    const client = clientFor(server, { logger });
    const found = outcomeOf(client.initialize({ timeoutMs: 0, retry: "forever" }));
    await vi.dynamicImportSettled();
    await vi.advanceTimersByTimeAsync(10);
    expect(found.outcome).toEqual(failed);
    server.respondWith(status(401));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(logger.lines).toEqual([
      expect.stringContaining("keeps trying"),
      expect.stringMatching(/^error: .*rejected the sdkKey/),
    ]);
    const requests = server.requests.length;
    server.respondWith(on);
    await client.initialize();
    expect(server.requests).toHaveLength(requests + 1);
  });

  it("stops trying at shutdown()", async () => {
    const server = new ScriptedServer(unreachable());
    const client = clientFor(server);
    const found = outcomeOf(client.initialize({ retry: "forever" }));
    await server.firstRequest();
    await client.shutdown();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(found.outcome).toEqual(failed);
    expect(server.requests).toHaveLength(1);
  });

  it("rejects invalid options", async () => {
    const client = clientFor(new ScriptedServer(on));
    for (const options of [
      { timeoutMs: -1 },
      { timeoutMs: "1" },
      { retry: true },
      { retry: "once" },
    ]) {
      await expect(client.initialize(options as never)).rejects.toEqual(
        expect.objectContaining({ code: "INVALID_OPTIONS" }),
      );
    }
    await client.initialize({ timeoutMs: undefined, retry: undefined });
  });
});

describe("a client", () => {
  it("calls a listener added by once() only once", async () => {
    const server = new ScriptedServer(on);
    const client = clientFor(server);
    const heard: string[] = [];
    const never = () => heard.push("never");
    client.on("refresh:success", () => heard.push("always"));
    client.once("refresh:success", ({ type }) => heard.push(`once ${type}`));
    client.once("refresh:success", never).off("refresh:success", never);
    await client.initialize();
    await client.refresh();
    await client.refresh();
    expect(heard).toEqual(["always", "once refresh:success", "always"]);
  });

  it("calls it once even if an earlier listener causes the same event", async () => {
    const client = clientFor(new ScriptedServer(on));
    let times = 0;
    client.on("shutdown", () => void client.shutdown());
    client.once("shutdown", () => {
      times += 1;
    });
    await client.initialize();
    await client.shutdown();
    expect(times).toBe(1);
  });

  it("is shut down at the end of `await using`", async () => {
    const client = clientFor(new ScriptedServer(on));
    const events = eventsOf(client);
    await client.initialize();
    await client[Symbol.asyncDispose]();
    expect(events).toEqual(["ready", "shutdown"]);
  });
});
