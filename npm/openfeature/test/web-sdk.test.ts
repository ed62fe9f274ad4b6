import { OpenFeature, ProviderEvents, ProviderStatus } from "@openfeature/web-sdk";
import { PennonServerProvider } from "@pennon/openfeature/server";
import { PennonWebProvider } from "@pennon/openfeature/web";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import {
  configuration,
  document,
  flag,
  flagWithRule,
  held,
  optionsFor,
  ScriptedServer,
  status,
} from "../../test-kit/scripted.ts";
import { Events } from "./application.ts";

const on = configuration([flag("on"), flagWithRule("ruled", "FR")]);
const british = { targetingKey: "ada", country: "GB" };
const one = { retries: 1, retryDelayMs: 1 };
const flags = OpenFeature.getClient();
const logged = vi.fn();

/** The events of the SDK, and the errors that it logged. */
function eventsOfSdk(): Events {
  const events = new Events();
  for (const type of Object.values(ProviderEvents)) {
    OpenFeature.addHandler(type, events.handler(type.replace("PROVIDER_", "")));
  }
  events.list.length = 0;
  return events;
}

/** Returns what a server hands to a page for this user. */
async function bootstrapFor(country: string) {
  const client = await readyClient(new ScriptedServer(on));
  const snapshot = client.withContext({ userId: "ada", country }).snapshot();
  await client.shutdown();
  return snapshot;
}

beforeEach(() => {
  logged.mockReset();
  OpenFeature.setLogger({ debug() {}, info() {}, warn() {}, error: logged });
});

afterEach(async () => {
  OpenFeature.clearHandlers();
  await OpenFeature.clearProviders();
  await OpenFeature.clearContexts();
});

describe("a start with a bootstrap", () => {
  it("is ready at once for the context of the bootstrap, while the server does not respond", async () => {
    const bootstrap = await bootstrapFor("GB");
    const server = new ScriptedServer(held().answer);
    const provider = new PennonWebProvider(optionsFor(server, { bootstrap }));
    await OpenFeature.setProviderAndWait(provider, british);
    expect(provider.client.isReady()).toBe(false);
    expect(flags.getBooleanDetails("on", false)).toMatchObject({ value: true, reason: "STATIC" });
    expect(flags.getBooleanDetails("ruled", false)).toMatchObject({ value: true });
  });

  it("reports a failure, and that it is ready afterwards", async () => {
    const bootstrap = await bootstrapFor("GB");
    const late = held();
    const server = new ScriptedServer(late.answer, on);
    const provider = new PennonWebProvider(optionsFor(server, { bootstrap }));
    await OpenFeature.setProviderAndWait(provider, british);
    const events = eventsOfSdk();
    await server.requested(1);
    await late.release(status(401));
    await vi.waitFor(() => expect(events.list.at(-1)).toBe("STALE"));
    await provider.client.refresh();
    expect(events.list.slice(events.list.indexOf("STALE"))).toContain("READY");
    expect(flags.providerStatus).toBe(ProviderStatus.READY);
    expect(flags.getBooleanValue("ruled", false)).toBe(true);
  });

  it.each([
    ["another context", "FR", {}],
    ["no flags", undefined, { fallbacks: { on: true } }],
  ])("waits with a bootstrap for %s", async (_, country, options) => {
    const bootstrap = country === undefined ? undefined : await bootstrapFor(country);
    const late = held();
    const server = new ScriptedServer(late.answer);
    const provider = new PennonWebProvider(optionsFor(server, { ...options, bootstrap }));
    const ready = OpenFeature.setProviderAndWait(provider, british);
    await server.requested(1);
    expect(flags.providerStatus).toBe(ProviderStatus.NOT_READY);
    await late.release(on);
    await ready;
    expect(flags.getBooleanValue("ruled", false)).toBe(true);
  });

  it("is ready at once in remote mode, too", async () => {
    const bootstrap = await bootstrapFor("GB");
    const server = new ScriptedServer(held().answer);
    const provider = new PennonWebProvider(optionsFor(server, { mode: "remote", bootstrap }));
    await OpenFeature.setProviderAndWait(provider, british);
    expect(flags.getBooleanValue("ruled", false)).toBe(true);
  });
});

describe("a provider in remote mode", () => {
  it("serves one domain only", async () => {
    const answer = document({ flags: [{ key: "on", enabled: true, reason: "rollout" }] });
    const options = optionsFor(new ScriptedServer(answer), { mode: "remote" });
    const provider = new PennonWebProvider(options);
    await OpenFeature.setProviderAndWait("shop", provider);
    await expect((async () => OpenFeature.setProviderAndWait("admin", provider))()).rejects.toThrow(
      "to more than one domain",
    );
    const local = new PennonWebProvider(optionsFor(new ScriptedServer(on)));
    await OpenFeature.setProviderAndWait("shop", local);
    await OpenFeature.setProviderAndWait("admin", local);
  });
});

describe("several changes of the context in one tick", () => {
  const valid = { country: "FR" };
  const invalid = { email: 5 };

  it.each([
    [[valid, invalid, british], ProviderStatus.READY],
    [[invalid, invalid, british], ProviderStatus.READY],
    [[valid, british, invalid], ProviderStatus.ERROR],
  ])("%j end with the status of the last one, %s", async (contexts, expected) => {
    await OpenFeature.setProviderAndWait(new PennonWebProvider(optionsFor(new ScriptedServer(on))));
    await Promise.allSettled(contexts.map((context) => OpenFeature.setContext(context)));
    expect(flags.providerStatus).toBe(expected);
  });
});

describe.each([PennonWebProvider, PennonServerProvider])("%O", (Provider) => {
  it("has not failed if it is closed during its start", async () => {
    const provider = new Provider(optionsFor(new ScriptedServer(held().answer), one));
    const started = provider.initialize();
    await provider.onClose();
    await expect(started).resolves.toBeUndefined();
  });
});

describe("a provider that is replaced during its start", () => {
  it("does not report an error", async () => {
    const server = new ScriptedServer(held().answer);
    OpenFeature.setProvider(new PennonWebProvider(optionsFor(server, one)));
    await server.requested(1);
    const events = eventsOfSdk();
    await OpenFeature.setProviderAndWait(new PennonWebProvider(optionsFor(new ScriptedServer(on))));
    expect(events.list).not.toContain("ERROR");
    expect(logged).not.toHaveBeenCalled();
    expect(flags.providerStatus).toBe(ProviderStatus.READY);
  });
});

describe("a provider that is replaced during a change of the context", () => {
  it("does not report an error", async () => {
    const answer = document({ flags: [{ key: "on", enabled: true, reason: "rollout" }] });
    const server = new ScriptedServer(answer, held().answer);
    await OpenFeature.setProviderAndWait(
      new PennonWebProvider(optionsFor(server, { mode: "remote" })),
    );
    const changed = OpenFeature.setContext(british);
    await server.requested(2);
    const events = eventsOfSdk();
    await OpenFeature.setProviderAndWait(new PennonWebProvider(optionsFor(new ScriptedServer(on))));
    await changed;
    expect(events.list).not.toContain("ERROR");
    expect(logged).not.toHaveBeenCalled();
    expect(flags.providerStatus).toBe(ProviderStatus.READY);
  });
});
