import { describe, expect, it } from "vitest";
import { clientFor } from "../../test-kit/clients.ts";
import { LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  document,
  flag,
  type optionsFor,
  ScriptedServer,
} from "../../test-kit/scripted.ts";

const matches = {
  attribute: "email",
  operator: "matches",
  valueType: "string",
  valueString: "@example",
};
const rule = { priority: 1, logic: "and", value: true, conditions: [matches] };
const beta = { key: "beta", enabled: true, rules: [rule], rollout: null };
const newer = { format: 2, flags: [flag("alpha"), beta, flag("gamma", false)] };
const unsupported = expect.objectContaining({ code: "FLAG_UNSUPPORTED" });

async function started(...[server, options]: Parameters<typeof optionsFor>) {
  const logger = new LogRecorder();
  const client = clientFor(server, { logger, ...options });
  await client.initialize();
  return { client, logger };
}

describe("a flag that needs a newer package", () => {
  it("throws for a context, without affecting other flags", async () => {
    const { client } = await started(new ScriptedServer(document(newer)));
    expect(() => client.evaluate("beta", {})).toThrow(unsupported);
    expect(() => client.explain("beta", {})).toThrow(unsupported);
    expect(() => client.withContext({}).evaluate("beta")).toThrow(unsupported);
    expect(client.read("beta", {})).toBeUndefined();
    expect(client.withContext({}).isEnabled("beta", true)).toBe(true);
    expect(client.isEnabled("beta")).toBe(true);
    expect(client.isTargeted("beta")).toBe(true);
    expect(client.evaluateAll({})).toEqual({
      alpha: { enabled: true, reason: "flag_enabled" },
      gamma: { enabled: false, reason: "flag_disabled" },
    });
  });

  it("has its value in `fallbacks`", async () => {
    const fallback = { enabled: false, reason: "fallback" };
    const options = { fallbacks: { beta: false } };
    const { client } = await started(new ScriptedServer(document(newer)), options);
    expect(client.evaluate("beta", {})).toEqual(fallback);
    expect(client.read("beta", {})).toEqual(fallback);
    expect(client.withContext({}).evaluate("beta")).toEqual(fallback);
    expect(client.isEnabled("beta")).toBe(true);
  });

  it("is named with its unknown value in one warning", async () => {
    const entries = [
      beta,
      { ...beta, key: "text", rules: [{ ...rule, logic: 'a "quoted, text]' }] },
      { ...beta, key: "number", rules: [], rollout: { strategy: "per_user", percentage: 12.5 } },
      { ...beta, key: "missing", rules: [{ ...rule, conditions: [] }] },
      { ...beta, key: "long", rules: [{ ...rule, logic: "é".repeat(100) }] },
      { ...beta, key: "disabled", enabled: false },
      { ...beta, key: 5 },
    ];
    const server = new ScriptedServer(document({ flags: entries }));
    const { client, logger } = await started(server);
    const has = (key: string, value: string) => expect.stringContaining(`'${key}' ${value}`);
    const expected = [
      has("beta", 'has "matches", which is a value that @pennon/core'),
      has("long", `has "${"é".repeat(31)}`),
      has("missing", "lacks a member"),
      has("number", "has 12.5,"),
      has("text", 'has "a \\"quoted, text]",'),
      expect.stringContaining("1 of the flags"),
    ];
    expect(logger.lines).toEqual(expected);
    server.respondWith(document({ flags: [...entries].reverse() }, 'W/"2"'));
    await client.refresh();
    expect(logger.lines).toEqual(expected);
  });

  it("is reported as changed when it becomes one, and when it stops being one", async () => {
    const server = new ScriptedServer(configuration([flag("alpha"), flag("beta")]));
    const { client } = await started(server);
    const changes: (readonly string[])[] = [];
    client.on("change", ({ flags }) => changes.push(flags));
    server.respondWith(document({ flags: [flag("alpha"), beta] }, 'W/"2"'));
    await client.refresh();
    expect(client.read("beta", {})).toBeUndefined();
    // It has moved in the document, but is unchanged.
    server.respondWith(document({ flags: [beta, flag("alpha")] }, 'W/"3"'));
    await client.refresh();
    server.respondWith(configuration([flag("alpha"), flag("beta")], 'W/"4"'));
    await client.refresh();
    expect(client.read("beta", {})).toEqual({ enabled: true, reason: "flag_enabled" });
    expect(changes).toEqual([["beta"], ["beta"]]);
  });

  it("is evaluated by the bootstrap until a config document is loaded", async () => {
    const context = { userId: "ada" };
    const bootstrap = {
      version: 1 as const,
      flags: [{ key: "beta", enabled: true, reason: "flag_enabled" as const, targeted: true }],
      subject: {
        context,
        flags: [{ key: "beta", enabled: false, reason: "targeting_rule" as const }],
      },
    };
    const server = new ScriptedServer(document(newer));
    const client = clientFor(server, { bootstrap });
    expect(client.read("beta", context)?.enabled).toBe(false);
    await client.initialize();
    expect(client.read("beta", context)).toBeUndefined();
  });
});
