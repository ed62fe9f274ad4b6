import type { EvaluateEvent, FeatureFlagsClientOptions } from "@pennon/core";
import { describe, expect, it } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { LogRecorder } from "../../test-kit/recorders.ts";
import { configuration, flag, flagWithRule, ScriptedServer } from "../../test-kit/scripted.ts";

const on = configuration([flag("beta"), flagWithRule("ruled", "FR")]);

async function ready(options: Partial<FeatureFlagsClientOptions>) {
  return readyClient(new ScriptedServer(on), options);
}

describe("onEvaluate", () => {
  it("is called with each evaluation that a caller gets", async () => {
    const events: EvaluateEvent[] = [];
    const client = await ready({
      onEvaluate: (event) => events.push(event),
      fallbacks: { missing: true },
    });
    const french = { country: "FR" };
    const reader = client.withContext(french);
    client.isEnabled("beta", french);
    client.getValue("beta");
    client.evaluate("ruled", french);
    reader.read("ruled");
    reader.isEnabled("ruled");
    client.read("missing", null);
    const enabled = { key: "beta", context: undefined, enabled: true, reason: "flag_enabled" };
    const ruled = { key: "ruled", context: french, enabled: false, reason: "targeting_rule" };
    expect(events).toEqual([
      enabled,
      enabled,
      ruled,
      ruled,
      ruled,
      { key: "missing", context: undefined, enabled: true, reason: "fallback" },
    ]);
  });

  it("may evaluate flags itself, without being called with them", async () => {
    const keys: string[] = [];
    const client = await ready({
      onEvaluate: ({ key }) => {
        keys.push(key);
        // Without the limit, a failure of this test would not end.
        if (keys.length < 99) {
          client.read("beta", {});
          client.read("ruled", {});
        }
      },
    });
    client.evaluate("ruled", { country: "FR" });
    client.isEnabled("beta");
    expect(keys).toEqual(["ruled", "beta"]);
  });

  it("is called with evaluations by the server too", async () => {
    const events: EvaluateEvent[] = [];
    const answer = () => ({
      status: 200,
      headers: new Headers(),
      body: JSON.stringify({ enabled: false, reason: "rollout" }),
    });
    const client = clientFor(new ScriptedServer(answer), {
      onEvaluate: (event) => events.push(event),
    });
    const context = { userId: "ada" };
    await client.evaluateRemote("beta", context);
    expect(events).toEqual([{ key: "beta", context, enabled: false, reason: "rollout" }]);
  });

  it("is not called for reads of all flags, or if a flag cannot be evaluated", async () => {
    const events: EvaluateEvent[] = [];
    const client = await ready({ onEvaluate: (event) => events.push(event) });
    client.evaluateAll({ country: "FR" });
    client.explain("ruled", {});
    client.snapshot();
    client.withContext({}).readAll();
    client.read("missing");
    expect(() => client.evaluate("missing")).toThrow();
    expect(events).toEqual([]);
  });

  it("may throw or reject, which is logged", async () => {
    const logger = new LogRecorder();
    const hooks = [
      () => {
        throw new Error("broken");
      },
      () => Promise.reject(new Error("broken later")) as never,
    ];
    for (const onEvaluate of hooks) {
      const client = await ready({ onEvaluate, logger });
      expect(client.evaluate("beta").enabled).toBe(true);
      await client.shutdown();
    }
    expect(logger.lines).toEqual([
      "error: onEvaluate threw or rejected",
      "error: onEvaluate threw or rejected",
    ]);
  });
});
