import type { EvaluationContext } from "@openfeature/core";
import { PennonServerProvider } from "@pennon/openfeature/server";
import { PennonWebProvider } from "@pennon/openfeature/web";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Pennon } from "../../test-kit/pennon.ts";

/** A rule for each kind of attribute. */
const CONDITIONS = {
  user: { attribute: "userId", valueType: "string", valueString: "ada" },
  tenant: { attribute: "tenantId", valueType: "string", valueString: "acme" },
  email: { attribute: "email", valueType: "string", valueString: "ada@example.com" },
  country: { attribute: "country", valueType: "string", valueString: "GB" },
  plan: { attribute: "plan", valueType: "string", valueString: "pro" },
  seats: { attribute: "seats", valueType: "number", valueInt: 10 },
  beta: { attribute: "beta", valueType: "boolean", valueBool: true },
  since: { attribute: "since", valueType: "string", valueString: "2026-01-02T03:04:05.678Z" },
  structure: { attribute: "customAttributes", valueType: "string", valueString: "text" },
  key: { attribute: "targetingKey", valueType: "string", valueString: "ada" },
  first: { attribute: "0", valueType: "string", valueString: "text" },
  inherited: { attribute: "__proto__", valueType: "string", valueString: "own" },
};

/** Flags without a rule. */
const PLAIN = [["on"], ["off"], ["rollout"]] as const;

const CONTEXTS: readonly unknown[] = [
  {},
  { targetingKey: "ada" },
  { targetingKey: "ada", userId: "bob" },
  { targetingKey: "bob", userId: "ada" },
  { targetingKey: "ada", userId: null },
  { targetingKey: "ada", userId: undefined },
  { targetingKey: "ada", userId: "" },
  { targetingKey: "", userId: null },
  { userId: "ada", tenantId: "acme", email: "ada@example.com", country: "GB" },
  { plan: "pro", seats: 10, beta: true },
  { plan: "pro", customAttributes: { plan: "free", seats: 10 } },
  { customAttributes: { plan: "free", seats: 10 }, plan: "pro" },
  { customAttributes: { plan: "pro", seats: 10 }, plan: null, seats: [9] },
  { plan: "pro", customAttributes: { plan: null } },
  { customAttributes: { plan: "pro", userId: "ada", targetingKey: "ada" } },
  { customAttributes: { plan: ["pro"], seats: { is: 10 }, beta: null } },
  { plan: ["pro"], seats: { is: 10 }, beta: null },
  { customAttributes: "text" },
  { customAttributes: ["text"] },
  { customAttributes: null },
  { since: new Date("2026-01-02T03:04:05.678Z") },
  { since: new Date(Number.NaN) },
  { customAttributes: { since: new Date("2026-01-02T03:04:05.678Z") } },
  { seats: Number.NaN },
  { seats: Number.POSITIVE_INFINITY },
  { seats: 10.0 },
  { seats: "10" },
  JSON.parse('{ "__proto__": "own" }'),
  JSON.parse('{ "customAttributes": { "__proto__": "own" } }'),
  { targetingKey: 7 },
  { targetingKey: true, userId: "ada" },
  { targetingKey: "ada", userId: 7 },
  { tenantId: 7 },
  { country: ["GB"] },
  { email: 7 },
  { email: null },
  { email: "nobody" },
  { email: "" },
  { email: "Ada@Example.COM" },
  { email: "ada@example.com\n" },
  { email: "ada@-example.com" },
  { email: "adä@example.com" },
  { email: "ada@exa\u212Aple.com" },
  { email: "a_d.a!#$%&'*+/=?^_`{|}~-@e-x.example" },
  { email: `ada@${"x".repeat(63)}.example` },
  { email: `ada@${"x".repeat(64)}.example` },
  { userId: new Date("2026-01-02T03:04:05.678Z") },
  { userId: Number.NaN },
  { userId: {}, tenantId: [], email: "nobody", country: false },
  ...Array.from({ length: 20 }, (_, user) => ({ targetingKey: `user-${user}` })),
];

describe("with the real server", () => {
  let pennon: Pennon;
  let sdkKey: string;

  beforeAll(async () => {
    pennon = await Pennon.start();
    const environment = await pennon.request("POST", "/environments", {
      product: "shop",
      name: "test",
    });
    sdkKey = environment.sdkKey;
    for (const [key, condition] of [...Object.entries(CONDITIONS), ...PLAIN] as const) {
      const flag = await pennon.request("POST", "/flags", { key, name: key, type: "boolean" });
      const place = `/flags/${flag.id}/environments/${environment.id}`;
      await pennon.request("PUT", place, { isEnabled: key !== "off" });
      if (condition !== undefined) {
        const conditions = [{ ...condition, operator: "==" }];
        const rule = { priority: 1, logic: "and", value: false, conditions };
        await pennon.request("POST", `${place}/rules`, rule);
      }
      if (key === "rollout") {
        await pennon.request("PUT", `${place}/rollout`, { percentage: 50, strategy: "per_user" });
      }
    }
  }, 30_000);

  afterAll(() => pennon?.stop());

  it("both providers return the same as the server by OpenFeature's protocol", async () => {
    const options = () => ({ sdkKey, baseUrl: pennon.url, pollIntervalMs: 0 });
    const onServers = new PennonServerProvider(options());
    const inBrowsers = new PennonWebProvider(options());
    await Promise.all([onServers.initialize(), inBrowsers.initialize()]);
    const outcomes = new Set<unknown>();
    for (const context of CONTEXTS as readonly EvaluationContext[]) {
      for (const key of [...Object.keys(CONDITIONS), ...PLAIN.flat(), "unknown"]) {
        const there = await evaluateRemotely(key, context);
        const here = inBrowsers.resolveBooleanEvaluation(key, false, context);
        const { value, variant, reason, flagMetadata, errorCode } = here;
        // The server returns `STATIC` instead of `DISABLED`, which the Go provider would not return as `false`.
        const sent = reason === "DISABLED" ? "STATIC" : reason;
        const word = errorCode === undefined ? sent : undefined;
        expect(
          { value, variant, reason: word, flagMetadata, errorCode },
          `${key} for ${JSON.stringify(context)}`,
        ).toEqual(there);
        expect(await onServers.resolveBooleanEvaluation(key, false, context)).toEqual(here);
        outcomes.add(errorCode ?? reason);
      }
    }
    expect(outcomes).toEqual(
      new Set([
        "STATIC",
        "DEFAULT",
        "DISABLED",
        "TARGETING_MATCH",
        "SPLIT",
        "FLAG_NOT_FOUND",
        "INVALID_CONTEXT",
      ]),
    );
    await Promise.all([onServers.onClose(), inBrowsers.onClose()]);
  });

  it("the server's description has the pattern of the email addresses that it accepts", async () => {
    const { components } = await (await fetch(`${pennon.url}/openapi.json`)).json();
    const { pattern } = components.schemas.EvaluationContext.properties.email.oneOf[0];
    const described = new RegExp(pattern);
    const outcomes = new Set<boolean>();
    for (const { email } of CONTEXTS as readonly EvaluationContext[]) {
      if (typeof email === "string") {
        const { errorCode } = await evaluateRemotely("on", { email });
        expect(described.test(email), email).toBe(errorCode === undefined);
        outcomes.add(errorCode === undefined);
      }
    }
    expect(outcomes.size).toBe(2);
  });

  async function evaluateRemotely(key: string, context: EvaluationContext) {
    const response = await fetch(`${pennon.url}/ofrep/v1/evaluate/flags/${key}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": sdkKey },
      body: JSON.stringify({ context }),
    });
    const { value = false, variant, reason, metadata, errorCode } = await response.json();
    // The server sends empty metadata with errors.
    const flagMetadata = errorCode === undefined ? metadata : undefined;
    return { value, variant, reason, flagMetadata, errorCode };
  }
});
