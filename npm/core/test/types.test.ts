import {
  type EvaluationContext,
  FeatureFlagsClient,
  type LifecycleEvent,
  type Snapshot,
} from "@pennon/core";
import { describe, expect, it } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import { configuration, flagWithRule, ScriptedServer } from "../../test-kit/scripted.ts";

interface Plan {
  readonly plan: string;
  readonly seats?: number;
}

/** Compiled, never called. */
export function compiled(client: FeatureFlagsClient, plan: Plan, context: EvaluationContext) {
  client.evaluate("key", { userId: "ada", customAttributes: plan });
  client.withContext({ customAttributes: plan }).read("key");
  client.isEnabled("key", { customAttributes: { plan: "pro", seats: 3, beta: true, none: null } });
  client.read("key", context);
  client.read("key", null);
  client.read("key");
  client.read("key", {});
  client.evaluateAll(Object.assign({ userId: "ada" }, { customAttributes: plan }));
  // @ts-expect-error: neither a string nor a number nor a boolean.
  client.evaluate("key", { customAttributes: { plan: ["pro"] } });
  // @ts-expect-error: a list has no attributes.
  client.evaluate("key", { customAttributes: ["pro"] });
  // @ts-expect-error: nor is a date.
  client.withContext({ customAttributes: { since: new Date() } });
  // @ts-expect-error: a user's id is a string.
  client.evaluate("key", { userId: 3 });
  // @ts-expect-error: there is no such attribute.
  client.evaluate("key", { user: "ada" });
  client.on("change", ({ flags }) => flags.join());
  client.on("refresh:error", ({ error }) => error.code);
  // @ts-expect-error: only a change has flags.
  client.on("ready", ({ flags }) => flags);
  const all = (event: LifecycleEvent) => (event.type === "change" ? event.flags : event.type);
  const bootstrap: Snapshot = client.snapshot();
  return [all, new FeatureFlagsClient({ sdkKey: "k", bootstrap })];
}

describe("customAttributes", () => {
  it("may be of any interface type", async () => {
    const server = new ScriptedServer(configuration([flagWithRule("ruled", "FR")]));
    const client = await readyClient(server);
    const plan: Plan = { plan: "pro", seats: 3 };
    expect(client.evaluate("ruled", { customAttributes: plan }).enabled).toBe(true);
  });
});
