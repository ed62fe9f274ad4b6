import { type CacheEntry, FeatureFlagsClient } from "@pennon/core";
import { describe, expect, it } from "vitest";
import { ada, bob, readyClient, readyRemoteClient, remoteClient } from "../../test-kit/clients.ts";
import { EvaluatingServer } from "../../test-kit/evaluating.ts";
import { eventsOf } from "../../test-kit/recorders.ts";
import { configuration, flag, flagWithRule, ScriptedServer } from "../../test-kit/scripted.ts";

describe("a start without the server", () => {
  it("uses the cache only for an equal context", async () => {
    const server = new EvaluatingServer();
    const cache = new Map<string, CacheEntry>();
    await readyRemoteClient(server, { cache });
    const copy = () => new Map(cache);
    server.fail(500);
    const same = await readyRemoteClient(server, { cache: copy(), context: { ...ada } });
    expect(same.isEnabled("beta")).toBe(true);
    expect(same.context).toEqual(ada);
    await expect(readyRemoteClient(server, { cache: copy(), context: bob })).rejects.toThrow("500");
    const local = { cache: copy(), mode: undefined, context: undefined };
    await expect(readyRemoteClient(server, local)).rejects.toThrow("500");
  });

  it("never uses the entries of a client for another context, which shares the cache", async () => {
    const server = new EvaluatingServer();
    const cache = new Map<string, CacheEntry>();
    const client = await readyRemoteClient(server, { cache, context: bob });
    await readyRemoteClient(server, { cache });
    await client.refresh();
    server.fail(500);
    const again = await readyRemoteClient(server, { cache: new Map(cache), context: bob });
    expect(again.isEnabled("beta")).toBe(false);
    await expect(readyRemoteClient(server, { cache })).rejects.toThrow("500");
  });

  /** Returns the answers for Ada that a server with rules hands to a page. */
  async function rendered(context: object = { country: "FR" }) {
    const flags = [flag("banner"), flagWithRule("beta", "FR")];
    const client = await readyClient(new ScriptedServer(configuration(flags)));
    return JSON.parse(JSON.stringify(client.withContext(context).snapshot()));
  }

  it("starts with the answers of a server, for its context", async () => {
    const server = new EvaluatingServer();
    const bootstrap = await rendered();
    for (const context of [undefined, { country: "FR" }]) {
      const client = remoteClient(server, { bootstrap, context });
      expect(client.context).toEqual({ country: "FR" });
      expect(client.isEnabled("banner")).toBe(true);
      expect(client.evaluate("beta")).toEqual({ enabled: false, reason: "targeting_rule" });
      expect(client.read("beta", {})).toBeUndefined();
    }
    server.fail(500);
    const client = await readyRemoteClient(server, { bootstrap, context: undefined });
    expect(client.isEnabled("beta")).toBe(false);
  });

  it("uses only those that hold for every context if the context is another", async () => {
    const server = new EvaluatingServer();
    const { config, ...withoutContext } = await rendered().then(({ subject: _, ...rest }) => ({
      ...rest,
      config: { flags: [flagWithRule("beta", "FR")] },
    }));
    const snapshots = [await rendered(), withoutContext, { ...withoutContext, config }];
    for (const bootstrap of snapshots) {
      const client = remoteClient(server, { bootstrap });
      expect(client.evaluateAll()).toEqual({ banner: { enabled: true, reason: "flag_enabled" } });
      await client.initialize();
      expect(client.isEnabled("beta")).toBe(true);
    }
    expect(server.requests).toHaveLength(snapshots.length);
  });

  it("does not serve a bootstrap for a context that replaced its own", async () => {
    const server = new EvaluatingServer();
    const client = remoteClient(server, {
      bootstrap: await rendered(),
      context: { country: "FR" },
    });
    await client.setContext(bob);
    server.fail(500);
    await client.initialize();
    expect(client.context).toEqual({ country: "FR" });
    expect(client.read("beta", bob)).toBeUndefined();
    server.recover();
    await client.refresh();
    expect(client.evaluate("beta", bob).enabled).toBe(false);
  });

  it("reports no change if the answers equal the bootstrap", async () => {
    const server = new EvaluatingServer();
    const bootstrap = (await readyRemoteClient(server)).snapshot();
    const client = remoteClient(server, { bootstrap });
    const events = eventsOf(client);
    const before = client.evaluate("beta");
    await client.initialize();
    expect(events).toEqual(["ready"]);
    expect(client.evaluate("beta")).toBe(before);
  });

  it("hands its answers to another client", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    const bootstrap = JSON.parse(JSON.stringify(client.snapshot()));
    expect(bootstrap).toEqual(client.withContext(ada).snapshot());
    const other = remoteClient(server, { bootstrap, context: ada });
    expect(other.evaluate("beta")).toEqual({ enabled: true, reason: "targeting_rule" });
    const frozen = FeatureFlagsClient.fromSnapshot(bootstrap);
    expect(frozen.evaluate("beta", ada)).toEqual({ enabled: true, reason: "targeting_rule" });
    expect(frozen.read("beta", bob)).toBeUndefined();
  });
});
