import { describe, expect, it, vi } from "vitest";
import { ada, bob, readyRemoteClient, remoteClient } from "../../test-kit/clients.ts";
import { EvaluatingServer } from "../../test-kit/evaluating.ts";
import { eventsOf } from "../../test-kit/recorders.ts";
import { held } from "../../test-kit/scripted.ts";

describe("setContext", () => {
  it("resolves when the answers for the new context are served", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    const reader = client.withContext();
    const bound = client.withContext(bob);
    const notified = vi.fn();
    client.subscribe(notified);
    const events = eventsOf(client);
    const changed = client.setContext(bob);
    expect(client.context).toEqual(ada);
    expect(reader.isEnabled("beta")).toBe(true);
    expect(bound.read("beta")).toBeUndefined();
    await changed;
    expect(client.context).toEqual(bob);
    expect(reader.context).toEqual(bob);
    expect(reader.isEnabled("beta")).toBe(false);
    expect(bound.evaluate("beta")).toEqual({ enabled: false, reason: "targeting_rule" });
    expect(() => client.evaluate("beta", ada)).toThrow("no evaluations for this context");
    expect(server.tags).toEqual([undefined, undefined]);
    expect(server.bodies).toEqual([{ context: ada }, { context: bob }]);
    expect(events).toEqual(["refresh:start", "change beta", "refresh:success"]);
    expect(notified).toHaveBeenCalledOnce();
  });

  it("notifies subscribers even if all answers are the same", async () => {
    const client = await readyRemoteClient(new EvaluatingServer(), { context: bob });
    const events = eventsOf(client);
    const notified = vi.fn();
    client.subscribe(notified);
    await client.setContext({ userId: "eve" });
    expect(notified).toHaveBeenCalledOnce();
    expect(events).toEqual(["refresh:start", "refresh:success"]);
  });

  it("sends nothing for an equal context", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    await client.setContext({ userId: "ada", email: null, customAttributes: {} });
    expect(server.requests).toHaveLength(1);
  });

  it("waits for a pending request that already has this context", async () => {
    const server = new EvaluatingServer();
    const client = remoteClient(server);
    await Promise.all([client.initialize(), client.setContext(ada)]);
    expect(server.requests).toHaveLength(1);
    await Promise.all([client.setContext(bob), client.setContext({ ...bob })]);
    expect(client.context).toEqual(bob);
    expect(server.requests).toHaveLength(2);
  });

  it("replaces the first request while the engine is being loaded", async () => {
    const server = new EvaluatingServer();
    const client = remoteClient(server);
    const initialized = client.initialize();
    await Promise.resolve();
    expect(server.bodies).toEqual([{ context: ada }]);
    await client.setContext(bob);
    await initialized;
    expect(client.context).toEqual(bob);
    expect(server.bodies).toEqual([{ context: ada }, { context: bob }]);
    expect(server.requests[0]?.signal.aborted).toBe(true);
  });

  it("never serves a late answer for an earlier context", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    const late = held();
    server.respondWith(late.answer, (request) => server.respond(request));
    const first = client.setContext(bob);
    await server.requested(2);
    const second = client.setContext({ userId: "eve" });
    await server.requested(3);
    await Promise.all([first, second]);
    await late.release((request) => server.respond(request));
    await Promise.resolve();
    expect(client.context).toEqual({ userId: "eve" });
    expect(server.requests[1]?.signal.aborted).toBe(true);
    expect(client.read("beta", bob)).toBeUndefined();
  });

  it("waits for its own answers if a listener calls it", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    let changed: Promise<void> | undefined;
    client.once("change", () => {
      changed = client.setContext({ userId: "ada", country: "FR" });
    });
    await client.setContext(bob);
    await changed;
    expect(client.context).toEqual({ userId: "ada", country: "FR" });
    expect(server.requests).toHaveLength(3);
  });

  it("rejects after all retries, keeps the answers of the previous context, and tries again", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    server.fail(500);
    await expect(client.setContext(bob)).rejects.toMatchObject({
      code: "REFRESH_FAILED",
      message: expect.stringContaining("setContext() failed"),
    });
    expect(server.requests).toHaveLength(3);
    expect(client.context).toEqual(ada);
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.read("beta", bob)).toBeUndefined();
    server.recover();
    await client.refresh();
    expect(client.context).toEqual(bob);
    expect(client.isEnabled("beta")).toBe(false);
  });

  it("requests the answers again after a failure, also for the same context", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    server.fail(400);
    await client.setContext(bob).catch(() => {});
    expect(client.error?.code).toBe("REFRESH_FAILED");
    server.recover();
    await client.setContext(bob);
    expect(client.error).toBeUndefined();
    expect(client.context).toEqual(bob);
    await client.setContext(ada);
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("only changes the context before initialize(), and fails after shutdown()", async () => {
    const server = new EvaluatingServer();
    const client = remoteClient(server);
    await client.setContext(bob);
    expect(server.requests).toHaveLength(0);
    expect(client.context).toEqual(bob);
    const initialized = client.initialize();
    const changed = client.setContext(ada);
    await Promise.all([initialized, changed]);
    expect(client.isEnabled("beta")).toBe(true);
    await client.shutdown();
    await expect(client.setContext(bob)).rejects.toMatchObject({ code: "NOT_INITIALIZED" });
  });

  it("fails with the client's shutdown", async () => {
    const server = new EvaluatingServer();
    const client = await readyRemoteClient(server);
    server.respondWith(held().answer);
    const changed = client.setContext(bob);
    await server.requested(2);
    await Promise.all([
      expect(changed).rejects.toMatchObject({ code: "NOT_INITIALIZED" }),
      client.shutdown(),
    ]);
  });
});
