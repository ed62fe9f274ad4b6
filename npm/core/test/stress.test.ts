import { describe, expect, it, vi } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { errorWith } from "../../test-kit/errors.ts";
import { exactTimers } from "../../test-kit/exact-timers.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  flagWithRule,
  ScriptedServer,
  status,
} from "../../test-kit/scripted.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const lasting = [flag("beta", true, { ttlOverrideSeconds: 86_400 })];
const on = configuration(lasting, 'W/"on"');

exactTimers();

describe("a refused key", () => {
  it.each([401, 403])("with status %d is retried, and never given up", async (refusal) => {
    const server = new ScriptedServer(on, status(refusal));
    const client = clientFor(server, { pollIntervalMs: 30_000 });
    const events = eventsOf(client);
    await client.initialize();
    await vi.advanceTimersByTimeAsync(2 * HOUR);
    const inTwoHours = server.requests.length;
    expect(inTwoHours).toBeGreaterThan(12);
    expect(inTwoHours).toBeLessThan(18);
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(server.requests).toHaveLength(inTwoHours + 1);
    server.respondWith(status(304));
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(events.at(-1)).toBe("refresh:success");
    const before = server.requests.length;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(server.requests).toHaveLength(before + 2);
  });
});

describe("the first poll", () => {
  it("is at a random time in the interval, so that many clients spread out", async () => {
    const firstPoll = async (random: number) => {
      vi.mocked(Math.random).mockReturnValue(random);
      const server = new ScriptedServer(on);
      const client = await readyClient(server, { pollIntervalMs: 30_000 });
      const start = performance.now();
      while (server.requests.length === 1) {
        await vi.advanceTimersToNextTimerAsync();
      }
      await client.shutdown();
      return Math.round((performance.now() - start) / 1_000);
    };
    const polls: number[] = [];
    for (const random of [0.01, 0.25, 0.5, 0.75, 0.99]) {
      polls.push(await firstPoll(random));
    }
    expect(polls).toEqual([0, 8, 15, 23, 30]);
  });
});

describe("time", () => {
  it("is not that of the wall clock, which may jump", async () => {
    const server = new ScriptedServer(on, status(304));
    const client = await readyClient(server, { pollIntervalMs: 30_000 });
    for (const jump of [HOUR, -2 * HOUR, 365 * 24 * HOUR]) {
      const before = server.requests.length;
      vi.setSystemTime(Date.now() + jump);
      await vi.advanceTimersByTimeAsync(29_000);
      expect(client.isEnabled("beta")).toBe(true);
      await vi.advanceTimersByTimeAsync(31_000);
      expect(server.requests).toHaveLength(before + 2);
    }
  });

  it("during which a tab was suspended causes one refresh", async () => {
    const server = new ScriptedServer(configuration([flag("beta")], 'W/"on"'), status(304));
    const client = await readyClient(server, { pollIntervalMs: 30_000 });
    const asleep = 8 * HOUR;
    const real = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => real() + asleep);
    await vi.advanceTimersToNextTimerAsync();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(server.requests).toHaveLength(2);
    expect(client.isEnabled("beta")).toBe(true);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(server.requests).toHaveLength(3);
    await client.shutdown();
  });

  it("between two polls may exceed the limit of timers", async () => {
    const forever = [flag("beta", true, { ttlOverrideSeconds: 31_536_000 })];
    const server = new ScriptedServer(configuration(forever));
    const interval = 2 ** 31 + 5_000;
    const client = clientFor(server, { pollIntervalMs: interval });
    const timers = vi.spyOn(globalThis, "setTimeout");
    await client.initialize();
    await vi.advanceTimersByTimeAsync(interval - 1_000);
    expect(server.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(server.requests).toHaveLength(2);
    const delays = timers.mock.calls.map(([, delay]) => delay ?? 0);
    // Hosts store delays in 31 bits, and fire longer ones at once.
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
  });

  it("to live of a flag changes with the next fetch", async () => {
    const [short, long] = [5, 50].map((ttlOverrideSeconds) =>
      configuration(
        [flag("beta", true, { ttlOverrideSeconds }), flag("other")],
        `"${ttlOverrideSeconds}"`,
      ),
    );
    const server = new ScriptedServer(short ?? on, long ?? on, status(500));
    const client = await readyClient(server, { retries: 1 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(server.requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(49_999);
    expect(server.requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(server.requests).toHaveLength(4);
    expect([client.read("beta"), client.isEnabled("other")]).toEqual([undefined, true]);
  });
});

describe("a key of a flag", () => {
  it("may be any value", async () => {
    const client = clientFor(
      new ScriptedServer(configuration([flag("beta"), flagWithRule("ruled", "FR")])),
    );
    const reader = client.withContext({});
    const keys = [Symbol("s"), null, undefined, 1, {}, [], Number.NaN, "toString", "", "\uD800"];
    const every = (state: string, error: unknown) => {
      for (const key of keys as string[]) {
        expect(client.read(key), state).toBeUndefined();
        expect(reader.read(key), state).toBeUndefined();
        expect(reader.isEnabled(key, true), state).toBe(true);
        for (const method of ["isEnabled", "getValue", "evaluate", "explain"] as const) {
          expect(() => client[method](key), `${method} ${state}`).toThrow(error as Error);
        }
      }
    };
    every("before", errorWith("NOT_INITIALIZED"));
    await client.initialize();
    every("ready", errorWith("FLAG_NOT_FOUND"));
    await client.shutdown();
    every("after", errorWith("NOT_INITIALIZED"));
  });
});

describe("a subscriber that fails", () => {
  it("is logged, without affecting the others", async () => {
    const logger = new LogRecorder();
    const client = clientFor(new ScriptedServer(on), { logger });
    const notified: string[] = [];
    client.subscribe(() => {
      throw new Error("broken");
    });
    client.subscribe((() => Promise.reject(new Error("broken later"))) as () => void);
    client.subscribe(() => notified.push("notified"));
    await client.initialize();
    expect(notified).toEqual(["notified"]);
    expect(logger.lines).toEqual([
      "error: A listener threw or rejected",
      "error: A listener threw or rejected",
    ]);
  });
});
