import { FeatureFlagsClient } from "@pennon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Pennon } from "./pennon.ts";

describe("with the real service", () => {
  const key = "new_checkout";
  let pennon: Pennon;
  let sdkKey: string;
  let configuration: string;

  beforeAll(async () => {
    pennon = await Pennon.start();
    const environment = await pennon.ask("POST", "/environments", {
      product: "shop",
      name: "test",
    });
    const flag = await pennon.ask("POST", "/flags", { key, name: "Checkout", type: "boolean" });
    sdkKey = environment.sdkKey;
    configuration = `/flags/${flag.id}/environments/${environment.id}`;
    await pennon.ask("PUT", configuration, { isEnabled: true });
    await pennon.ask("POST", `${configuration}/rules`, {
      priority: 1,
      logic: "or",
      value: true,
      conditions: [
        { attribute: "country", operator: "==", valueType: "string", valueString: "GB" },
        { attribute: "seats", operator: ">=", valueType: "number", valueInt: 10 },
      ],
    });
    await pennon.ask("PUT", `${configuration}/rollout`, { percentage: 50, strategy: "per_user" });
  }, 30_000);

  afterAll(() => pennon?.stop());

  it("client and service give the same answers", async () => {
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
    const there = await pennon.ask("POST", "/sdk/v1/evaluate/batch", { evaluations }, sdkKey);
    const here = contexts.map((context) => client.evaluate(key, context));
    expect(here).toEqual(there);
    expect(new Set(here.map(({ enabled }) => enabled)).size).toBe(2);
    await client.shutdown();
  });

  it("the client follows when the flag is switched", async () => {
    const client = new FeatureFlagsClient({ sdkKey, baseUrl: pennon.url, pollIntervalMs: 50 });
    await client.initialize();
    expect(client.isEnabled(key)).toBe(true);
    const switched = new Promise<void>((resolve) => {
      client.on("refresh:success", () => client.isEnabled(key) || resolve());
    });
    await pennon.ask("PUT", configuration, { isEnabled: false });
    await switched;
    expect(client.evaluate(key, { country: "GB" }).reason).toBe("flag_disabled");
    await client.shutdown();
  });
});
