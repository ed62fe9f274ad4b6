import { FeatureFlagsClient, fetchTransport, type TransportRequest } from "@pennon/core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Pennon } from "../../test-kit/pennon.ts";

describe("with the real server", () => {
  const key = "new_checkout";
  let pennon: Pennon;
  let sdkKey: string;
  let configuration: string;

  beforeAll(async () => {
    pennon = await Pennon.start();
    const environment = await pennon.request("POST", "/environments", {
      product: "shop",
      name: "test",
    });
    const flag = await pennon.request("POST", "/flags", { key, name: "Checkout", type: "boolean" });
    sdkKey = environment.sdkKey;
    configuration = `/flags/${flag.id}/environments/${environment.id}`;
    await pennon.request("PUT", configuration, { isEnabled: true });
    await pennon.request("POST", `${configuration}/rules`, {
      priority: 1,
      logic: "or",
      value: true,
      conditions: [
        { attribute: "country", operator: "==", valueType: "string", valueString: "GB" },
        { attribute: "seats", operator: ">=", valueType: "number", valueInt: 10 },
      ],
    });
    await pennon.request("PUT", `${configuration}/rollout`, {
      percentage: 50,
      strategy: "per_user",
    });
  }, 30_000);

  afterAll(() => pennon?.stop());

  it("client and server return the same evaluations", async () => {
    const client = new FeatureFlagsClient({ sdkKey, baseUrl: pennon.url, pollIntervalMs: 0 });
    await client.initialize();
    const contexts = [
      {},
      { country: "GB" },
      { customAttributes: { seats: 9.5 } },
      { customAttributes: { seats: 10 } },
      ...Array.from({ length: 20 }, (_, user) => ({ userId: `user-${user}`, country: "FR" })),
    ];
    const evaluations = contexts.map((context) => ({ flagKey: key, context }));
    const there = await pennon.request("POST", "/sdk/v1/evaluate/batch", { evaluations }, sdkKey);
    const here = contexts.map((context) => client.evaluate(key, context));
    expect(here).toEqual(there);
    expect(new Set(here.map(({ enabled }) => enabled)).size).toBe(2);
    await client.shutdown();
  });

  it("client and server return the same bootstrap", async () => {
    const client = new FeatureFlagsClient({ sdkKey, baseUrl: pennon.url, pollIntervalMs: 0 });
    await client.initialize();
    const contexts = [
      {},
      { country: "GB" },
      { userId: "ada", tenantId: "acme", email: "ada@example.com", country: "FR" },
      { customAttributes: { seats: 10, share: 0.1, plan: "é", beta: false } },
    ];
    for (const context of contexts) {
      const there = await pennon.request("POST", "/sdk/v1/bootstrap", { context }, sdkKey);
      expect(client.withContext(context).snapshot()).toEqual(there);
    }
    await client.shutdown();
  });

  it("client and server return the same explanations", async () => {
    const client = new FeatureFlagsClient({ sdkKey, baseUrl: pennon.url, pollIntervalMs: 0 });
    await client.initialize();
    const contexts = [
      null,
      {},
      { country: "GB" },
      { country: "FR", userId: "ada" },
      { customAttributes: { seats: 9.5 } },
      { customAttributes: { seats: "10" } },
      { customAttributes: { seats: true, country: "GB" } },
    ];
    for (const context of contexts) {
      const there = await pennon.request(
        "POST",
        "/sdk/v1/explain",
        { flagKey: key, context },
        sdkKey,
      );
      // Clients do not receive the IDs of rules.
      for (const rule of there.rules) {
        delete rule.id;
      }
      const here = client.explain(key, context);
      expect(here).toEqual(there);
      expect(await client.evaluateRemote(key, context)).toBe(client.evaluate(key, context));
    }
    await expect(client.evaluateRemote("unknown")).rejects.toMatchObject({
      code: "FLAG_NOT_FOUND",
    });
    await client.shutdown();
  });

  it("the client with a stream learns of a switched flag", async () => {
    const client = new FeatureFlagsClient({
      sdkKey,
      baseUrl: pennon.url,
      pollIntervalMs: 0,
      streaming: true,
    });
    await client.initialize();
    for (const isEnabled of [false, true]) {
      const changed = new Promise<readonly string[]>((resolve) => {
        client.on("change", ({ flags }) => resolve(flags));
      });
      await pennon.request("PUT", configuration, { isEnabled });
      expect(await changed).toEqual([key]);
      expect(client.isEnabled(key)).toBe(isEnabled);
    }
    await client.shutdown();
  });

  it("the client reports usage that the server counts", async () => {
    const reported: number[] = [];
    const transport = {
      send: async (request: TransportRequest) => {
        const response = await fetchTransport.send(request);
        reported.push(response.status);
        return response;
      },
    };
    const client = new FeatureFlagsClient({
      sdkKey,
      baseUrl: pennon.url,
      transport,
      pollIntervalMs: 0,
      reportUsage: true,
    });
    await client.initialize();
    await vi.dynamicImportSettled();
    client.isEnabled(key);
    await client.shutdown();
    expect(reported).toEqual([200, 204]);
  });

  it("the polling client learns of a switched flag", async () => {
    const client = new FeatureFlagsClient({ sdkKey, baseUrl: pennon.url, pollIntervalMs: 50 });
    await client.initialize();
    expect(client.isEnabled(key)).toBe(true);
    const switched = new Promise<void>((resolve) => {
      client.on("refresh:success", () => client.isEnabled(key) || resolve());
    });
    await pennon.request("PUT", configuration, { isEnabled: false });
    await switched;
    expect(client.evaluate(key, { country: "GB" }).reason).toBe("flag_disabled");
    await client.shutdown();
  });
});
