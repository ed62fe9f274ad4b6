import { createRequire } from "node:module";
import { OpenFeature, ProviderEvents, ProviderStatus } from "@openfeature/web-sdk";
import { FeatureFlagsClient, VERSION } from "@pennon/core";
import { PennonServerProvider } from "@pennon/openfeature/server";
import { PennonWebProvider } from "@pennon/openfeature/web";
import { afterEach, describe, expect, it, vi } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { describeOtherCore } from "../../test-kit/other-core.ts";
import {
  configuration,
  document,
  flag,
  flagWithRule,
  held,
  optionsFor,
  ScriptedServer,
  status,
  unreachable,
} from "../../test-kit/scripted.ts";
import { Events } from "./application.ts";

const on = configuration([flag("on"), flagWithRule("ruled", "FR")]);
const one = { retries: 1, retryDelayMs: 1 };
const logger = { debug() {}, info() {}, warn() {}, error() {} };

const PROVIDERS = [
  ["PennonServerProvider", PennonServerProvider],
  ["PennonWebProvider", PennonWebProvider],
] as const;

/** The events of a provider itself, without those that an SDK adds. */
function eventsOf(provider: PennonServerProvider | PennonWebProvider): Events {
  const events = new Events();
  for (const type of Object.values(ProviderEvents)) {
    provider.events.addHandler(type as never, events.handler(type.replace("PROVIDER_", "")));
  }
  return events;
}

/** Makes evaluations that need the engine fail while `isFailing` is true. */
function fragileEngine(): { isFailing: boolean } {
  const state = { isFailing: false };
  const instantiate = WebAssembly.instantiate.bind(WebAssembly);
  const instance = async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
    const { exports } = await instantiate(module, imports);
    const original = exports.evaluate as (...numbers: number[]) => number;
    const evaluate = (...numbers: number[]) => {
      if (state.isFailing) {
        throw new WebAssembly.RuntimeError("unreachable");
      }
      return original(...numbers);
    };
    return { exports: { ...exports, evaluate } };
  };
  vi.spyOn(WebAssembly, "instantiate").mockImplementation(instance as never);
  return state;
}

afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await OpenFeature.clearProviders();
});

describe.each(PROVIDERS)("%s", (_, Provider) => {
  it("rejects the same options as the client", () => {
    for (const options of [{ sdkKey: "" }, undefined, null]) {
      expect(() => new Provider(options as never)).toThrow(
        expect.objectContaining({ code: "INVALID_OPTIONS" }),
      );
    }
  });

  it("names this package in the requests of its own clients, and no other client", async () => {
    const server = new ScriptedServer(on);
    const provider = new Provider(optionsFor(server));
    await provider.initialize();
    await provider.onClose();
    await provider.initialize();
    await provider.onClose();
    const given = clientFor(server);
    await new Provider(given).initialize();
    await given.shutdown();
    const names = server.requests.map(({ headers }) => headers["X-Pennon-Client"]);
    const own = `@pennon/openfeature/${VERSION}`;
    expect(names).toEqual([own, own, `@pennon/core/${VERSION}`]);
  });

  it("retries by itself if its own client could not start", async () => {
    vi.useFakeTimers();
    const server = new ScriptedServer(unreachable());
    const provider = new Provider(optionsFor(server, one));
    const events = eventsOf(provider);
    const failed = expect(provider.initialize()).rejects.toMatchObject({
      code: "INITIALIZATION_FAILED",
    });
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(10);
    await failed;
    expect(events.list).toEqual([]);
    expect(provider.client.isReady()).toBe(false);
    server.respondWith(on);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await events.received(1)).toEqual(["READY"]);
    expect(provider.client.isReady()).toBe(true);
    await provider.onClose();
  });

  it("stops trying after it is closed, and has no error when it is used again", async () => {
    vi.useFakeTimers();
    const server = new ScriptedServer(unreachable());
    const provider = new Provider(optionsFor(server, one));
    const events = eventsOf(provider);
    const failed = expect(provider.initialize()).rejects.toThrow();
    await server.firstRequest();
    await vi.advanceTimersByTimeAsync(10);
    await failed;
    await provider.onClose();
    expect(vi.getTimerCount()).toBe(0);
    server.respondWith(on);
    await provider.initialize();
    expect(events.list).toEqual([]);
    await provider.onClose();
  });

  it("does not retry if it is closed during its start, and can be used again", async () => {
    vi.useFakeTimers();
    const server = new ScriptedServer(held().answer, on);
    const provider = new Provider(optionsFor(server, one));
    const events = eventsOf(provider);
    const started = provider.initialize();
    await server.firstRequest();
    await provider.onClose();
    await started;
    expect(vi.getTimerCount()).toBe(0);
    await provider.initialize();
    expect(events.list).toEqual([]);
    await provider.onClose();
  });

  it("returns fallbacks if the server is down at the start", async () => {
    const server = new ScriptedServer(status(404));
    const provider = new Provider(optionsFor(server, { fallbacks: { on: true } }));
    await expect(provider.initialize()).rejects.toThrow("404");
    expect(await provider.resolveBooleanEvaluation("on", false, {})).toMatchObject({
      value: true,
      reason: "DEFAULT",
      flagMetadata: { reason: "fallback" },
    });
    expect(await provider.resolveBooleanEvaluation("off", true, {})).toMatchObject({
      value: true,
      errorCode: "PROVIDER_NOT_READY",
    });
    await provider.onClose();
  });

  it("can be used again after it is closed, with a new client", async () => {
    const server = new ScriptedServer(on);
    const provider = new Provider(optionsFor(server));
    await provider.initialize();
    const before = provider.client;
    await provider.onClose();
    expect(before.isReady()).toBe(false);
    await provider.initialize();
    expect((await provider.resolveBooleanEvaluation("on", false, {})).value).toBe(true);
    await provider.onClose();
    expect(provider.client.isReady()).toBe(false);
  });

  it("emits nothing after it is closed, and sends no unnecessary request", async () => {
    const server = new ScriptedServer(on);
    const client = await readyClient(server, one);
    const unsubscribe = vi.fn();
    vi.spyOn(client, "subscribe").mockReturnValue(unsubscribe);
    const provider = new Provider(client);
    const events = eventsOf(provider);
    await provider.initialize();
    expect(server.requests).toHaveLength(1);
    await provider.onClose();
    expect(unsubscribe).toHaveBeenCalledOnce();
    server.respondWith(configuration([flag("on", false)], 'W/"2"'), unreachable());
    await client.refresh();
    await expect(client.refresh()).rejects.toThrow();
    await client.shutdown();
    expect(events.list).toEqual([]);
  });

  it("accepts a client from the other module system", async () => {
    const core = createRequire(import.meta.url)("@pennon/core");
    const client = new core.FeatureFlagsClient(optionsFor(new ScriptedServer(on)));
    expect(client).not.toBeInstanceOf(FeatureFlagsClient);
    const provider = new Provider(client);
    expect(provider.client).toBe(client);
    await provider.initialize();
    expect(await provider.resolveBooleanEvaluation("no", true, {})).toMatchObject({
      errorCode: "FLAG_NOT_FOUND",
    });
    await client.shutdown();
  });

  it("reports when the engine fails, and when it is back", async () => {
    const engine = fragileEngine();
    const provider = new Provider(optionsFor(new ScriptedServer(on)));
    const events = eventsOf(provider);
    await provider.initialize();
    engine.isFailing = true;
    await provider.resolveBooleanEvaluation("ruled", true, { country: "FR" });
    expect(events.list).toEqual(["ERROR"]);
    engine.isFailing = false;
    expect(await events.received(2)).toEqual(["ERROR", "READY"]);
    expect(await provider.resolveBooleanEvaluation("ruled", true, { country: "FR" })).toMatchObject(
      { value: false },
    );
    await provider.onClose();
  });

  it.each(["has restarted", "was closed"])(
    "does not report that it is ready because flags expire after its failed engine %s",
    async (end) => {
      vi.useFakeTimers();
      const engine = fragileEngine();
      const server = new ScriptedServer(on);
      const provider = new Provider(optionsFor(server));
      const events = eventsOf(provider);
      await provider.initialize();
      engine.isFailing = true;
      await provider.resolveBooleanEvaluation("ruled", true, { country: "FR" });
      engine.isFailing = false;
      if (end === "has restarted") {
        expect(await events.received(2)).toEqual(["ERROR", "READY"]);
      } else {
        await provider.onClose();
        await provider.initialize();
      }
      server.respondWith(status(404));
      await expect(provider.client.refresh()).rejects.toThrow("404");
      expect(events.list.at(-1)).toBe("STALE");
      events.list.length = 0;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(events.list).toEqual(["CONFIGURATION_CHANGED on ruled", "STALE"]);
      await provider.onClose();
    },
  );
});

describe("PennonWebProvider", () => {
  it("waits for the first flags if the context changes before", async () => {
    OpenFeature.setLogger(logger);
    const { answer, release } = held();
    const server = new ScriptedServer(answer);
    OpenFeature.setProvider(new PennonWebProvider(optionsFor(server)));
    await server.requested(1);
    const client = OpenFeature.getClient();
    const changed = OpenFeature.setContext({ country: "FR" });
    expect(client.providerStatus).toBe(ProviderStatus.RECONCILING);
    await release(on);
    await changed;
    expect(client.providerStatus).toBe(ProviderStatus.READY);
    expect(client.getBooleanDetails("ruled", true)).toMatchObject({ value: false });
    expect(server.requests).toHaveLength(1);
  });

  it("does not wait once it has flags", async () => {
    const provider = new PennonWebProvider(optionsFor(new ScriptedServer(on)));
    await provider.initialize();
    expect(provider.onContextChange({}, { country: "FR" })).toBeUndefined();
    await expect(provider.onContextChange({}, { country: 7 })).rejects.toMatchObject({
      code: "INVALID_CONTEXT",
    });
    await provider.onClose();
  });
});

describeOtherCore(async () => {
  const { PennonWebProvider } = await import("@pennon/openfeature/web");
  new PennonWebProvider({ sdkKey: "pnk_test" });
});

describe("PennonWebProvider with a client in the mode remote", () => {
  function answer(enabled: boolean, reason: string) {
    return document({ flags: [{ key: "beta", enabled, reason, ttlOverrideSeconds: null }] });
  }

  it("asks the server for each context of OpenFeature", async () => {
    const server = new ScriptedServer(answer(true, "rollout"), answer(false, "flag_disabled"));
    const provider = new PennonWebProvider(optionsFor(server, { mode: "remote" }));
    const flags = OpenFeature.getClient();
    await OpenFeature.setProviderAndWait(provider, { targetingKey: "ada", plan: "pro" });
    expect(server.requests).toHaveLength(1);
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({
      context: { userId: "ada", customAttributes: { plan: "pro" } },
    });
    expect(flags.getBooleanDetails("beta", false)).toMatchObject({ value: true, reason: "SPLIT" });
    await OpenFeature.setContext({ targetingKey: "ben" });
    expect(server.requests).toHaveLength(2);
    expect(flags.getBooleanDetails("beta", true)).toMatchObject({
      value: false,
      reason: "DISABLED",
    });
    await expect(provider.onContextChange({}, { targetingKey: 1 } as never)).rejects.toThrow(
      "targetingKey must be a string",
    );
    await OpenFeature.setContext({});
  });

  it("returns stale evaluations while it waits for those of a new context", async () => {
    const late = held();
    const server = new ScriptedServer(answer(true, "rollout"), late.answer);
    const provider = new PennonWebProvider(optionsFor(server, { mode: "remote" }));
    const flags = OpenFeature.getClient();
    await OpenFeature.setProviderAndWait(provider, { targetingKey: "ada" });
    const changed = OpenFeature.setContext({ targetingKey: "ben" });
    await server.requested(2);
    expect(flags.getBooleanDetails("beta", false)).toMatchObject({ value: true, reason: "STALE" });
    expect(flags.getBooleanDetails("none", true)).toMatchObject({ value: true, reason: "ERROR" });
    await late.release(answer(false, "rollout"));
    await changed;
    expect(flags.getBooleanDetails("beta", true)).toMatchObject({ value: false, reason: "SPLIT" });
    await OpenFeature.setContext({});
  });

  it("prefers stale evaluations to fallbacks, and counts each once", async () => {
    const seen: unknown[] = [];
    const late = held();
    const server = new ScriptedServer(answer(true, "rollout"), late.answer);
    const provider = new PennonWebProvider(
      optionsFor(server, {
        mode: "remote",
        fallbacks: { beta: false, none: true },
        onEvaluate: ({ key, reason }) => seen.push(`${key} ${reason}`),
        ...one,
      }),
    );
    const flags = OpenFeature.getClient();
    await OpenFeature.setProviderAndWait(provider, { targetingKey: "ada" });
    const changed = OpenFeature.setContext({ targetingKey: "ben" });
    await server.requested(2);
    const stale = { value: true, reason: "STALE" };
    expect(flags.getBooleanDetails("beta", false)).toMatchObject(stale);
    expect(flags.getBooleanDetails("none", false)).toMatchObject({
      value: true,
      reason: "DEFAULT",
    });
    expect(seen).toEqual(["beta rollout", "none fallback"]);
    server.respondWith(status(503));
    await late.release(status(503));
    await changed;
    expect(flags.getBooleanDetails("beta", false)).toMatchObject(stale);
    await OpenFeature.setContext({});
  });

  it("starts with the first valid context", async () => {
    const server = new ScriptedServer(answer(true, "rollout"));
    const provider = new PennonWebProvider(optionsFor(server, { mode: "remote" }));
    const flags = OpenFeature.getClient();
    const invalid = { targetingKey: 1 } as never;
    await expect(OpenFeature.setProviderAndWait(provider, invalid)).rejects.toThrow("must be");
    await OpenFeature.setContext({ targetingKey: "ada" });
    expect(flags.getBooleanDetails("beta", false)).toMatchObject({ value: true, reason: "SPLIT" });
    expect(server.requests).toHaveLength(1);
    await OpenFeature.setContext({});
  });

  it("never gives an unconditional evaluation the reason STATIC, which is cached", async () => {
    const server = new ScriptedServer(answer(true, "flag_enabled"));
    const provider = new PennonWebProvider(optionsFor(server, { mode: "remote" }));
    await OpenFeature.setProviderAndWait(provider);
    const details = OpenFeature.getClient().getBooleanDetails("beta", false);
    expect(details).toMatchObject({ value: true, reason: "DEFAULT" });
  });

  it.each(["prerequisite", "constructor"])("returns UNKNOWN for the reason %s", async (reason) => {
    const server = new ScriptedServer(answer(true, reason));
    const provider = new PennonWebProvider(optionsFor(server, { mode: "remote" }));
    await OpenFeature.setProviderAndWait(provider);
    const details = OpenFeature.getClient().getBooleanDetails("beta", false);
    const flagMetadata = { reason };
    expect(details).toMatchObject({ value: true, reason: "UNKNOWN", flagMetadata });
  });
});
