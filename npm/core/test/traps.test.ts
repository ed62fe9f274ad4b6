import { FeatureFlagsClient } from "@pennon/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { EvaluatingServer } from "../../test-kit/evaluating.ts";
import { eventsOf, LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  flagWithRule,
  held,
  optionsFor,
  ScriptedServer,
  status,
} from "../../test-kit/scripted.ts";

const on = configuration([flag("beta"), flagWithRule("ruled", "FR")]);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("an engine that traps", () => {
  /** Claims a length that exceeds the engine's memory. */
  class Endless extends Uint8Array {
    override get length(): number {
      return 0xffff_fff0;
    }
  }
  const trap = () => ({ status: 200, headers: new Headers(), body: new Endless() });

  const unreachable = (): number => {
    throw new WebAssembly.RuntimeError("unreachable");
  };

  /** Makes a function of the wasm trap, or call `instead`, while `isPoisoned`. */
  function trapsIn(name: string, isPoisoned: () => boolean, instead = unreachable): void {
    trapsWhere((each) => each === name && isPoisoned(), instead);
  }

  /** Makes the functions of the wasm trap, or call `instead`, while `isPoisoned` returns true for their names. */
  function trapsWhere(isPoisoned: (name: string) => boolean, instead = unreachable): void {
    const instantiate = WebAssembly.instantiate.bind(WebAssembly);
    const instance = async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
      const { exports } = await instantiate(module, imports);
      const poisoned = Object.entries(exports).map(([name, original]) => {
        const call = (...numbers: number[]) =>
          isPoisoned(name) ? instead() : (original as (...numbers: number[]) => number)(...numbers);
        return [name, typeof original === "function" ? call : original];
      });
      return { exports: Object.fromEntries(poisoned) };
    };
    vi.spyOn(WebAssembly, "instantiate").mockImplementation(instance as never);
  }

  it("breaks no read in remote mode, and asks for the evaluations again", async () => {
    let isPoisoned = false;
    trapsIn("reply_evaluations", () => isPoisoned);
    const server = new EvaluatingServer();
    const ada = { userId: "ada" };
    const options = optionsFor(server, { mode: "remote", context: ada });
    await using client = new FeatureFlagsClient(options);
    const events = eventsOf(client);
    await client.initialize();
    isPoisoned = true;
    const during: unknown[] = [];
    client.once("engine:error", () => {
      isPoisoned = false;
      during.push(client.context, client.isEnabled("beta"));
    });
    await expect(client.setContext({ userId: "bob" })).rejects.toMatchObject({
      code: "REFRESH_FAILED",
    });
    expect(during).toEqual([ada, true]);
    await server.requested(3);
    await vi.waitFor(() => expect(client.context).toEqual({ userId: "bob" }));
    expect(client.isEnabled("beta")).toBe(false);
    expect(events.filter((event) => event === "ready")).toHaveLength(1);
  });

  it("does not end the attempts of a client in remote mode if the next one is refused", async () => {
    let isPoisoned = false;
    trapsIn("reply_evaluations", () => isPoisoned);
    const server = new EvaluatingServer();
    const options = { mode: "remote", context: {}, pollIntervalMs: 20 } as const;
    const client = await readyClient(server, options);
    isPoisoned = true;
    client.once("engine:error", () => {
      isPoisoned = false;
      server.fail(404);
    });
    await expect(client.refresh()).rejects.toMatchObject({ code: "REFRESH_FAILED" });
    await new Promise((resolve) => client.once("refresh:error", resolve));
    server.recover();
    await new Promise((resolve) => client.once("refresh:success", resolve));
    expect(client.isEnabled("banner")).toBe(true);
  });

  it("settles setContext() of a client that is shut down before the engine has restarted", async () => {
    let isPoisoned = false;
    trapsIn("reply_evaluations", () => isPoisoned);
    const options = { mode: "remote", context: { userId: "ada" } } as const;
    const client = await readyClient(new EvaluatingServer(), options);
    isPoisoned = true;
    client.once("engine:error", () => queueMicrotask(() => client.shutdown()));
    await expect(client.setContext({ userId: "bob" })).rejects.toMatchObject({
      code: "NOT_INITIALIZED",
    });
  });

  it("breaks no read, and restarts at once with the last valid configuration", async () => {
    const logger = new LogRecorder();
    const server = new ScriptedServer(on, trap, configuration([flag("beta", false)]));
    const client = clientFor(server, { logger });
    const errors: unknown[] = [];
    client.on("engine:error", ({ error }) => errors.push(error));
    const events = eventsOf(client);
    await client.initialize();
    const bound = client.withContext({ country: "FR" });
    expect(bound.isEnabled("ruled")).toBe(false);
    const reads = () => [
      client.isEnabled("beta"),
      client.evaluate("beta", {}).enabled,
      bound.isEnabled("ruled", true),
    ];
    client.on("engine:error", () => events.push(`reads ${reads()}`));
    await expect(client.refresh()).rejects.toMatchObject({ code: "REFRESH_FAILED" });

    expect(client.evaluate("ruled", { country: "FR" }).reason).toBe("targeting_rule");
    expect(client.explain("ruled", {}).rules).toHaveLength(1);
    expect(client.snapshot().config?.flags).toHaveLength(2);
    expect(logger.lines).toEqual([expect.stringContaining("error: The engine failed")]);
    expect(errors).toMatchObject([{ code: "ENGINE_FAILED", cause: expect.any(Error) }]);
    await client.refresh();
    expect(client.isEnabled("beta")).toBe(false);
    expect(events).toEqual([
      "ready",
      "refresh:start",
      "engine:error",
      "reads true,true,false",
      "refresh:error",
      "refresh:start",
      "change beta ruled",
      "refresh:success",
    ]);
  });

  it("fails a refresh() of the same tick, with the trap as the cause", async () => {
    let isPoisoned = false;
    trapsIn("evaluate", () => isPoisoned);
    const client = await readyClient(new ScriptedServer(on));
    isPoisoned = true;
    const refreshed = client.refresh();
    client.read("ruled", { country: "FR" });
    isPoisoned = false;
    const cause = expect.any(WebAssembly.RuntimeError);
    await expect(refreshed).rejects.toMatchObject({ code: "REFRESH_FAILED", cause });
    await vi.waitFor(() => client.explain("ruled", {}));
    await client.refresh();
  });

  it("restarts only after half a minute if it traps again at once", async () => {
    vi.useFakeTimers();
    const server = new ScriptedServer(on, trap);
    const client = clientFor(server);
    const events = eventsOf(client);
    await client.initialize();
    const failed = { code: "REFRESH_FAILED" };
    await expect(client.refresh()).rejects.toMatchObject(failed);
    await expect(client.refresh()).rejects.toMatchObject(failed);
    await expect(client.refresh()).rejects.toMatchObject(failed);
    expect(server.requests).toHaveLength(3);
    expect(client.isEnabled("ruled")).toBe(true);
    expect(client.read("ruled", { country: "FR" })).toBeUndefined();
    const reader = client.withContext({ country: "FR" });
    const heard = new Promise<unknown>((resolve) => {
      client.subscribe(() => resolve(reader.read("ruled")));
    });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await heard).toEqual({ enabled: false, reason: "targeting_rule" });
    vi.useRealTimers();
    expect(events.filter((type) => type === "refresh:error")).toHaveLength(2);
    expect(events.filter((type) => type === "ready")).toHaveLength(1);
  });

  it("and traps again while it loads the last configuration reports the changes of the next", async () => {
    vi.useFakeTimers();
    let poisoned = "evaluate";
    trapsWhere((name) => name === poisoned);
    const client = await readyClient(
      new ScriptedServer(on, configuration([flag("beta", false), flag("new")])),
    );
    const changed = new Promise((resolve) => client.once("change", resolve));
    expect(client.read("ruled", { country: "FR" })).toBeUndefined();
    poisoned = "load";
    await new Promise((resolve) => client.once("engine:error", resolve));
    poisoned = "";
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await changed).toMatchObject({ flags: ["beta", "ruled", "new"] });
  });

  it.each(["take_command", "keys", "changes"])(
    "in %s, before it has served an accepted configuration, reports the changes later",
    async (name) => {
      let isPoisoned = false;
      trapsIn(name, () => isPoisoned);
      const next = configuration([flag("beta", false), flagWithRule("ruled", "FR")], 'W/"2"');
      const first = held();
      const server = new ScriptedServer(on, first.answer, next);
      const client = await readyClient(server);
      const changes: (readonly string[])[] = [];
      client.on("change", ({ flags }) => changes.push(flags));
      client.once("engine:error", () => {
        isPoisoned = false;
      });
      const refreshed = client.refresh();
      await server.requested(2);
      isPoisoned = true;
      await first.release(next);
      await expect(refreshed).rejects.toMatchObject({ code: "REFRESH_FAILED" });
      await client.refresh();
      expect(client.isEnabled("beta")).toBe(false);
      expect(changes).toEqual([["beta"]]);
    },
  );

  it("settles the calls of a listener, and those that it interrupted", async () => {
    const server = new ScriptedServer(on, trap, on);
    const client = await readyClient(server);
    let restarted: Promise<void> | undefined;
    client.once("engine:error", () => {
      restarted = client.initialize();
    });
    await expect(client.refresh()).rejects.toMatchObject({ code: "REFRESH_FAILED" });
    await restarted;
    // An early request would count as a later one.
    expect(server.requests).toHaveLength(2);
    await client.refresh();
    expect(client.evaluate("ruled", { country: "FR" }).reason).toBe("targeting_rule");
  });

  it("during an evaluation affects only that one, and restarts at once", async () => {
    let isPoisoned = false;
    trapsIn("evaluate", () => isPoisoned);
    const logger = new LogRecorder();
    const client = clientFor(new ScriptedServer(on), { logger });
    const events = eventsOf(client);
    await client.initialize();
    const reader = client.withContext({ country: "FR" });
    expect(reader.isEnabled("ruled")).toBe(false);

    isPoisoned = true;
    expect(() => client.evaluate("ruled", { country: "FR" })).toThrow("restarting");
    expect(client.read("ruled", { country: "FR" })).toBeUndefined();
    expect(reader.isEnabled("ruled", true)).toBe(false);
    expect(client.isEnabled("beta")).toBe(true);
    isPoisoned = false;
    await vi.waitFor(() => expect(client.read("ruled", { country: "FR" })?.enabled).toBe(false));
    await client.refresh();
    expect(events).toEqual(["ready", "engine:error", "refresh:start", "refresh:success"]);
    expect(logger.lines.filter((line) => line.startsWith("error"))).toHaveLength(1);
  });

  it("while only a cache is served fails the refresh, but no read", async () => {
    const cache = new Map();
    await readyClient(new ScriptedServer(on), { cache });
    const server = new ScriptedServer(status(302), trap, status(302), on);
    const client = clientFor(server, { cache });
    const events = eventsOf(client);
    await client.initialize();
    await expect(client.refresh()).rejects.toMatchObject({ code: "REFRESH_FAILED" });
    await server.requested(3);
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.read("ruled", {})).toBeUndefined();
    await client.refresh();
    expect(client.read("ruled", {})?.enabled).toBe(true);
    expect(events.slice(0, 4)).toEqual(["ready", "refresh:start", "engine:error", "refresh:error"]);
    expect(events.filter((event) => event === "ready")).toHaveLength(1);
  });

  it("because of the bootstrap fails initialize(), and does not load the bootstrap again", async () => {
    trapsIn("load", () => true);
    const server = new ScriptedServer(on);
    const client = clientFor(server, { bootstrap: { flags: [] } });
    await expect(client.initialize()).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
    await client.initialize();
    expect(client.isEnabled("beta")).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ["command", "take_command"],
    ["failure", "failure"],
  ])("is what an unknown %s is taken for", async (_, name) => {
    let isPoisoned = false;
    trapsIn(
      name,
      () => isPoisoned,
      () => 99,
    );
    const client = clientFor(new ScriptedServer(on, status(404), on));
    const errors: unknown[] = [];
    client.on("engine:error", ({ error }) => errors.push(error.cause));
    await client.initialize();
    isPoisoned = true;
    client.on("engine:error", () => {
      isPoisoned = false;
    });
    await expect(client.refresh()).rejects.toMatchObject({ code: "REFRESH_FAILED" });
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining("99") })]);
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("fails a first initialize(), which can be repeated", async () => {
    const server = new ScriptedServer(trap, on);
    const client = clientFor(server);
    await expect(client.initialize()).rejects.toMatchObject({ code: "INITIALIZATION_FAILED" });
    await client.initialize();
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("restarts by itself if initialize() has the option retry", async () => {
    vi.useFakeTimers();
    const client = clientFor(new ScriptedServer(trap, on));
    await expect(client.initialize({ retry: "background" })).rejects.toMatchObject({
      code: "INITIALIZATION_FAILED",
    });
    expect(client.isReady()).toBe(false);
    await vi.advanceTimersByTimeAsync(30_000);
    await vi.waitFor(() => expect(client.isEnabled("beta")).toBe(true));
  });
});
