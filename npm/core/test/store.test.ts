import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FeatureFlagsClientOptions, localStorageStore, type Store } from "@pennon/core";
import { fileStore } from "@pennon/core/file-store";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clientFor } from "../../test-kit/clients.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  flagWithRule,
  ScriptedServer,
  status,
  unreachable,
} from "../../test-kit/scripted.ts";

const on = configuration([flag("beta"), flagWithRule("ruled", "FR")]);
const french = { country: "FR" };
const failed = expect.objectContaining({ code: "INITIALIZATION_FAILED" });
const DAY = 86_400_000;

/** A store in memory, with the history of saved texts. */
function memoryStore(maxAgeSeconds = 86_400): Store & { readonly saved: string[] } {
  const saved: string[] = [];
  return {
    maxAgeSeconds,
    saved,
    load: () => saved.at(-1),
    save: (text) => void saved.push(text),
  };
}

function clientOf(server: ScriptedServer, options: Partial<FeatureFlagsClientOptions>) {
  return clientFor(server, {
    retries: 1,
    retryDelayMs: 0,
    sdkKey: "pnk_production_1",
    ...options,
  });
}

/** Runs a client while the server is up, so that the store has a document. */
async function fill(store: Store): Promise<void> {
  const client = clientOf(new ScriptedServer(on), { store });
  await client.initialize();
  await client.shutdown();
}

/** Starts a client while the server is down. */
async function restart(store: Store, options: Partial<FeatureFlagsClientOptions> = {}) {
  const logger = new LogRecorder();
  const server = new ScriptedServer(unreachable());
  const client = clientOf(server, { store, logger, ...options });
  const events = eventsOf(client);
  const found = await Promise.allSettled([client.initialize()]);
  const error = found[0]?.status === "rejected" ? found[0].reason : undefined;
  return { client, server, logger, events, error };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "performance"] });
  vi.spyOn(Math, "random").mockReturnValue(0);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const { setInterval, clearInterval } = globalThis;

/** Starts a client while the server is down, and runs the clock, which is stopped otherwise. */
async function restartInTime(...given: Parameters<typeof restart>) {
  const clock = setInterval(() => vi.advanceTimersByTime(10), 1);
  const restarted = await restart(...given);
  clearInterval(clock);
  return restarted;
}

describe("a store", () => {
  it("may evaluate flags when it saves a document", async () => {
    const french = { country: "FR" };
    const before = configuration([flagWithRule("ruled", "FR")], 'W/"before"');
    const after = configuration([flag("a", false), flagWithRule("ruled", "FR")], 'W/"after"');
    const seen: unknown[] = [];
    const client = clientOf(new ScriptedServer(before, after), {
      store: { ...memoryStore(), save: () => seen.push(client.read("ruled", french)) },
    });
    await client.initialize();
    await client.refresh();
    expect(seen).toEqual([client.read("ruled", french), client.read("ruled", french)]);
  });

  it("is written before shutdown() resolves, even if a listener of the first flags calls that", async () => {
    const events: string[] = [];
    const save = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      events.push("saved");
    };
    const client = clientOf(new ScriptedServer(on), { store: { ...memoryStore(), save } });
    const ended = new Promise<void>((resolve) => {
      client.on("ready", () => resolve(client.shutdown().then(() => void events.push("ended"))));
    });
    await client.initialize();
    await ended;
    expect(events).toEqual(["saved", "ended"]);
  });

  it("evaluates every context if the server is down at the start", async () => {
    const store = memoryStore();
    await fill(store);
    expect(store.saved).toHaveLength(1);
    expect(store.saved[0]).not.toContain("pnk_production_1");
    vi.setSystemTime(Date.now() + DAY / 2);
    const { client, events, logger } = await restartInTime(store);
    expect(client.isReady()).toBe(true);
    expect(events).toEqual(["ready"]);
    expect(client.evaluate("ruled", french)).toEqual({ enabled: false, reason: "targeting_rule" });
    expect(client.evaluate("ruled", {})).toEqual({ enabled: true, reason: "flag_enabled" });
    expect(client.explain("ruled", french).rules).toHaveLength(1);
    expect(logger.lines).toEqual([expect.stringContaining("The stored document is served")]);
    expect(store.saved).toHaveLength(1);
  });

  it("is served instead of an invalid bootstrap", async () => {
    const store = memoryStore();
    await fill(store);
    const { client } = await restartInTime(store, { bootstrap: { flags: [flag("\ud83d")] } });
    expect(client.evaluate("ruled", french).enabled).toBe(false);
  });

  it("keeps a document for a day by default", () => {
    for (const store of [fileStore("flags.json"), localStorageStore()]) {
      expect(store.maxAgeSeconds).toBe(86_400);
    }
  });

  it("is served until the server responds, after which the usual TTLs apply", async () => {
    const store = memoryStore();
    await fill(store);
    const { client, server } = await restartInTime(store);
    await vi.advanceTimersByTimeAsync(DAY / 2);
    expect(client.evaluate("ruled", french).enabled).toBe(false);
    server.respondWith(configuration([flag("beta", false)], 'W/"2"'));
    await client.refresh();
    expect(server.tags.every((tag) => tag === undefined)).toBe(true);
    expect(client.isEnabled("beta")).toBe(false);
    expect(client.read("ruled")).toBeUndefined();
    server.respondWith(unreachable());
    await vi.advanceTimersByTimeAsync(130_000);
    expect(client.read("beta")).toBeUndefined();
  });

  it("is served until it is too old", async () => {
    const store = memoryStore(600);
    await fill(store);
    vi.setSystemTime(Date.now() + 300_000);
    const { client } = await restartInTime(store);
    await vi.advanceTimersByTimeAsync(299_000);
    expect(client.read("ruled", french)).toBeDefined();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(client.read("ruled", french)).toBeUndefined();
    await client.shutdown();
    vi.setSystemTime(Date.now() + 600_000);
    const late = await restartInTime(store);
    expect(late.error).toEqual(failed);
    expect(late.logger.lines).toEqual([expect.stringContaining("older than maxAgeSeconds")]);
  });

  it("is served for a day if its maximum age is null", async () => {
    const store = { ...memoryStore(), maxAgeSeconds: null as unknown as number };
    await fill(store);
    vi.setSystemTime(Date.now() + 86_000_000);
    expect((await restartInTime(store)).error).toBeUndefined();
    vi.setSystemTime(Date.now() + 400_000);
    expect((await restartInTime(store)).error).toEqual(failed);
  });

  it("is confirmed occasionally by responses without changes", async () => {
    const store = memoryStore(1_000);
    const client = clientOf(new ScriptedServer(on, status(304)), {
      store,
      pollIntervalMs: 10_000,
    });
    await client.initialize();
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(store.saved.length).toBeGreaterThan(8);
    expect(store.saved.length).toBeLessThan(12);
    const [first, last] = [store.saved[0], store.saved.at(-1)].map((text) =>
      JSON.parse(text ?? ""),
    );
    expect(last.config).toEqual(first.config);
    expect(last.confirmedAt).toBeGreaterThan(first.confirmedAt + 800_000);
  });

  it("is ignored with a warning if it is nested too deeply", async () => {
    const store = memoryStore();
    await fill(store);
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const nested = store.saved[0]?.replace('"config":{', `"config":{"deep":${deep},`);
    const { error, events, logger } = await restartInTime({ ...store, load: () => nested });
    expect(error).toEqual(failed);
    expect(events).not.toContain("engine:error");
    expect(logger.lines).toEqual([expect.stringMatching(/^warn: The stored document is damaged/)]);
  });

  it("does not make a refused key work", async () => {
    const store = memoryStore();
    await fill(store);
    const client = clientOf(new ScriptedServer(status(401)), { store });
    await expect(client.initialize()).rejects.toEqual(failed);
  });

  it("is not read if flags expire later", async () => {
    const store = memoryStore();
    const server = new ScriptedServer(on, unreachable());
    const client = clientOf(server, { store, pollIntervalMs: 10_000 });
    await client.initialize();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(client.read("beta")).toBeUndefined();
  });

  it("does not make a cache look fresh", async () => {
    const store = memoryStore();
    await fill(store);
    vi.setSystemTime(Date.now() + DAY / 2);
    const cache = new Map();
    const { client } = await restartInTime(store, { cache });
    expect(client.read("beta")).toBeDefined();
    expect([...cache]).toEqual([]);
  });

  it("is ignored with one warning if it has any other content", async () => {
    const store = memoryStore();
    await fill(store);
    const good = JSON.parse(store.saved[0] ?? "");
    const odd: unknown[] = [
      "",
      "<html>",
      "null",
      "[]",
      "3",
      store.saved[0]?.slice(0, -2),
      { ...good, version: 2 },
      { ...good, confirmedAt: "yesterday" },
      { ...good, confirmedAt: null },
      { ...good, source: undefined },
      { ...good, source: "pnk_staging_1 http://127.0.0.1:3000" },
      { ...good, config: null },
      { ...good, config: "text" },
      { ...good, config: {} },
      { ...good, config: { flags: { beta: {} } } },
    ];
    for (const each of odd) {
      const text = typeof each === "string" ? each : JSON.stringify(each);
      const { error, logger } = await restartInTime({ ...store, load: () => text });
      expect(error, text).toEqual(failed);
      expect(logger.lines, text).toEqual([expect.stringMatching(/^warn: The stored document/)]);
    }
    for (const options of [{ sdkKey: "pnk_staging_1" }, { baseUrl: "https://flags.example.com" }]) {
      const { error } = await restartInTime(store, options);
      expect(error).toEqual(failed);
    }
    const { error } = await restartInTime(store, { sdkKey: "pnk_production_1" });
    expect(error).toBeUndefined();
  });

  it("may fail, which is logged", async () => {
    const broken = () => {
      throw new Error("broken");
    };
    const store = {
      maxAgeSeconds: 60,
      load: broken,
      save: () => Promise.reject(new Error("full")),
    };
    const { error, logger } = await restartInTime(store);
    expect(error).toEqual(failed);
    expect(logger.lines).toEqual(["warn: The stored document cannot be read, so it is ignored"]);
    const saving = new LogRecorder();
    const client = clientOf(new ScriptedServer(on), { store, logger: saving });
    await client.initialize();
    await client.shutdown();
    expect(saving.lines).toEqual(["error: The store could not save the config document"]);
  });

  it("must have the methods and the age of a store", () => {
    for (const store of [
      {},
      { load() {}, save() {}, maxAgeSeconds: "1" },
      { load() {}, save() {}, maxAgeSeconds: -1 },
    ]) {
      expect(() => clientOf(new ScriptedServer(on), { store: store as never })).toThrow(
        expect.objectContaining({ code: "INVALID_OPTIONS" }),
      );
    }
  });
});

describe("fileStore", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "pennon-store-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("keeps the config document in a file that only its owner can read", async () => {
    const path = join(folder, "flags.json");
    await fill(fileStore(path));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["flags.json"]);
    expect(JSON.parse(await readFile(path, "utf8")).config.flags).toHaveLength(2);
    const { client } = await restartInTime(fileStore(path));
    expect(client.evaluate("ruled", french).enabled).toBe(false);
  });

  it("saves the newest of many texts, and leaves no other files", async () => {
    const path = join(folder, "flags.json");
    await writeFile(path, "before", { mode: 0o644 });
    const store = fileStore(path, { maxAgeSeconds: 60 });
    expect(store.maxAgeSeconds).toBe(60);
    const saved = Array.from({ length: 100 }, (_, index) => store.save(`text ${index}`));
    await Promise.all(saved);
    expect(store.load()).toBe("text 99");
    expect(await readdir(folder)).toEqual(["flags.json"]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("saves again after a failure, which leaves no other files", async () => {
    const path = join(folder, "flags.json");
    await mkdir(path);
    const store = fileStore(path);
    await expect(store.save("first")).rejects.toThrow();
    expect(await readdir(folder)).toEqual(["flags.json"]);
    await rm(path, { recursive: true });
    await store.save("second");
    expect(store.load()).toBe("second");
  });

  it("deletes the files of processes that ended while they saved, at its first save", async () => {
    const path = join(folder, "flags.json");
    const temporary = () => `flags.json.${crypto.randomUUID()}.tmp`;
    const leftOver = [temporary(), temporary()];
    const young = temporary();
    const others = [
      "flags.json.tmp",
      `${temporary()}.old`,
      `old.${temporary()}`,
      temporary().replace("flags.json", "flags_json"),
      `flags.json.${"0".repeat(36)}.tmp`,
    ];
    const age = async (name: string, seconds: number) => {
      await writeFile(join(folder, name), name);
      const time = Date.now() / 1_000 - seconds;
      await utimes(join(folder, name), time, time);
    };
    await Promise.all([...leftOver, ...others].map((name) => age(name, 61)));
    await age(young, 59);
    const folderOfThatName = temporary();
    await mkdir(join(folder, folderOfThatName));
    await utimes(join(folder, folderOfThatName), 0, 0);

    const store = fileStore(path);
    const saved = store.save("text");
    // Before anything else, because this process may end while it saves, too.
    await new Promise((resolve) => process.nextTick(resolve));
    const remaining = readdirSync(folder);
    expect(leftOver.filter((name) => remaining.includes(name))).toEqual([]);
    await saved;
    const kept = [...others, young, folderOfThatName, "flags.json"].sort();
    expect((await readdir(folder)).sort()).toEqual(kept);
    expect(store.load()).toBe("text");

    const late = temporary();
    await age(late, 61);
    await store.save("newer");
    expect(await readdir(folder)).toContain(late);
  });

  it("is empty without a file, and fails if it cannot write", async () => {
    const store = fileStore(join(folder, "missing", "flags.json"));
    expect(store.load()).toBeUndefined();
    await expect(store.save("text")).rejects.toThrow("ENOENT");
    await expect(store.save("text")).rejects.toThrow("ENOENT");
    expect(() => fileStore(folder).load()).toThrow("EISDIR");
  });
});

describe("localStorageStore", () => {
  it("keeps the config document of a page", async () => {
    const items = new Map<string, string>();
    vi.stubGlobal("localStorage", {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, text: string) => items.set(key, text),
    });
    await fill(localStorageStore());
    expect([...items.keys()]).toEqual(["pennon-config"]);
    const { client } = await restartInTime(localStorageStore());
    expect(client.evaluate("ruled", french).enabled).toBe(false);
    await client.shutdown();
    const other = await restartInTime(localStorageStore("other"));
    expect(other.error).toEqual(failed);
    expect(other.logger.lines).toEqual([]);
  });

  it("stores nothing outside a page", async () => {
    vi.stubGlobal("localStorage", undefined);
    const store = localStorageStore(undefined, { maxAgeSeconds: 1 });
    store.save("text");
    expect(store.load()).toBeUndefined();
    expect(store.maxAgeSeconds).toBe(1);
  });
});
