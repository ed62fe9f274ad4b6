import { FeatureFlagsClient } from "@pennon/core";
import { describe, expect, it } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import { LogRecorder } from "../../test-kit/recorders.ts";
import {
  configuration,
  flag,
  flagWithRollout,
  flagWithRule,
  ScriptedServer,
} from "../../test-kit/scripted.ts";

const flags = [
  flag("on"),
  flag("off", false),
  flagWithRule("not_in_france", "FR"),
  flagWithRollout("nobody_yet", 0),
];

async function ready(logger = new LogRecorder()): Promise<FeatureFlagsClient> {
  const server = new ScriptedServer(configuration(flags));
  return readyClient(server, { logger });
}

describe("isEnabled and getValue", () => {
  it("evaluate without a context: rules do not match and rollouts are skipped", async () => {
    const client = await ready();
    expect(flags.map(({ key }) => client.isEnabled(key))).toEqual([true, false, true, true]);
    expect(flags.map(({ key }) => client.getValue(key))).toEqual([
      "flag_enabled",
      "flag_disabled",
      "flag_enabled",
      "flag_enabled",
    ]);
  });

  it("ignore the context", async () => {
    const client = await ready();
    expect(client.isEnabled("not_in_france", { country: "FR" })).toBe(true);
    expect(client.getValue("nobody_yet", { userId: "ada" })).toBe("flag_enabled");
  });

  it("warn once per flag that rules and rollouts are ignored", async () => {
    const logger = new LogRecorder();
    const client = await ready(logger);
    for (const { key } of [...flags, ...flags]) {
      client.isEnabled(key);
      client.getValue(key);
    }
    expect(logger.lines).toEqual([
      expect.stringContaining("'not_in_france'"),
      expect.stringContaining("'nobody_yet'"),
    ]);
  });

  it("throw FLAG_NOT_FOUND for an unknown flag", async () => {
    const client = await ready();
    const error = expect.objectContaining({ name: "FeatureFlagsError", code: "FLAG_NOT_FOUND" });
    expect(() => client.isEnabled("unknown")).toThrow(error);
    expect(() => client.getValue("ON")).toThrow(error);
    expect(() => client.evaluate("unknown", {})).toThrow(error);
  });

  it("name the type of a key that is not a string", async () => {
    const client = await ready();
    for (const [key, given] of [
      [42, "number 42"],
      [null, "object null"],
      [Object.create(null), "object"],
      [Symbol("on"), "symbol Symbol(on)"],
    ] as const) {
      const message = `A flag key must be a string, not ${given}`;
      const error = expect.objectContaining({ code: "FLAG_NOT_FOUND", message });
      expect(() => client.isEnabled(key as never)).toThrow(error);
    }
  });

  it("throw NOT_INITIALIZED before initialize()", () => {
    const client = new FeatureFlagsClient({ sdkKey: "pnk_test" });
    const error = expect.objectContaining({ code: "NOT_INITIALIZED" });
    expect(client.isReady()).toBe(false);
    expect(() => client.isEnabled("on")).toThrow(error);
    expect(() => client.getValue("on")).toThrow(error);
    expect(() => client.evaluate("on")).toThrow(error);
    expect(client.read("on")).toBeUndefined();
  });
});

describe("evaluate and read", () => {
  it("evaluate for the given context", async () => {
    const client = await ready();
    expect(client.evaluate("not_in_france", { country: "FR" })).toEqual({
      enabled: false,
      reason: "targeting_rule",
    });
    expect(client.read("not_in_france", { country: "DE" })).toEqual({
      enabled: true,
      reason: "flag_enabled",
    });
  });

  it("exclude a context without a bucketing key from a rollout, as the server does", async () => {
    const client = await ready();
    const out = { enabled: false, reason: "rollout" };
    expect(client.evaluate("nobody_yet")).toEqual(out);
    expect(client.evaluate("nobody_yet", null)).toEqual(out);
    expect(client.evaluate("nobody_yet", { userId: "" })).toEqual(out);
  });

  it("return undefined instead of throwing, for read", async () => {
    const client = await ready();
    expect(client.read("unknown", {})).toBeUndefined();
  });
});
