import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { describe, expect, it } from "vitest";
import { clientFor, readyClient } from "../../test-kit/clients.ts";
import { eventsOf } from "../../test-kit/recorders.ts";
import {
  configuration,
  type FlagConfig,
  flag,
  flagWithRollout,
  flagWithRule,
  held,
  optionsFor,
  ScriptedServer,
  status,
} from "../../test-kit/scripted.ts";

const flags = [
  flag("__proto__"),
  flag("on"),
  flag("off", false),
  flagWithRule("not_in_france", "FR"),
  flagWithRollout("nobody_yet", 0),
];

async function ready(
  options: Partial<FeatureFlagsClientOptions> = {},
  ...later: readonly (readonly FlagConfig[])[]
): Promise<FeatureFlagsClient> {
  const answers = [flags, ...later].map((flags, index) => configuration(flags, `"${index}"`));
  return readyClient(new ScriptedServer(...answers, status(304)), options);
}

describe("a bound reader", () => {
  it("evaluates for its context, and never throws from reads", async () => {
    const reader = (await ready()).withContext({ country: "FR" });
    expect(reader.read("not_in_france")).toEqual({ enabled: false, reason: "targeting_rule" });
    expect(reader.isEnabled("not_in_france")).toBe(false);
    expect(reader.isEnabled("on")).toBe(true);
    expect(reader.evaluate("nobody_yet").reason).toBe("rollout");
    expect(reader.explain("not_in_france").rules).toHaveLength(1);
    expect(reader.read("unknown")).toBeUndefined();
    expect([reader.isEnabled("unknown"), reader.isEnabled("unknown", true)]).toEqual([false, true]);
    expect(() => reader.evaluate("unknown")).toThrow("unknown");
  });

  it("caches its evaluations until the flags change", async () => {
    let reads = 0;
    const context = {
      get country() {
        reads += 1;
        return "FR";
      },
    };
    const client = await ready({}, [flagWithRule("not_in_france", "DE")]);
    const reader = client.withContext(context);
    for (let time = 0; time < 5; time += 1) {
      expect(reader.isEnabled("not_in_france")).toBe(false);
    }
    expect(reads).toBe(1);
    await client.refresh();
    expect(reader.isEnabled("not_in_france")).toBe(true);
    expect(reader.read("on")).toBeUndefined();
  });

  it("copies its context, so later changes of the object have no effect", async () => {
    const client = await ready();
    const context = { country: "DE", customAttributes: { plan: "pro" } };
    const reader = client.withContext(context);
    context.country = "FR";
    context.customAttributes.plan = "free";
    expect(reader.isEnabled("not_in_france")).toBe(true);
    expect(reader.context).toEqual({ country: "DE", customAttributes: { plan: "pro" } });
  });

  it("copies all own properties that can be read, because evaluate() uses them too", async () => {
    const client = await ready();
    const context = Object.defineProperty({}, "country", { value: "FR" });
    expect(client.evaluate("not_in_france", context).enabled).toBe(false);
    expect(client.withContext(context).isEnabled("not_in_france")).toBe(false);
    const changing = {
      country: "DE",
      get userId(): string {
        throw new Error("no");
      },
    };
    const reader = client.withContext(changing);
    changing.country = "FR";
    expect(reader.isEnabled("not_in_france")).toBe(true);
  });

  it("can be created for any context, before the client is ready and after its shutdown", async () => {
    const throwing = {
      get country(): string {
        throw new Error("no");
      },
    };
    const client = clientFor(new ScriptedServer(configuration(flags)));
    const contexts = [null, undefined, {}, throwing, 1, "ada", [], { customAttributes: ["a"] }];
    const readers = contexts.map((context) => client.withContext(context as object));
    const answers = () => readers.map((reader) => reader.read("not_in_france")?.enabled);
    expect(answers()).toEqual(contexts.map(() => undefined));
    await client.initialize();
    expect(answers()).toEqual(contexts.map(() => true));
    await client.shutdown();
    expect(answers()).toEqual(contexts.map(() => undefined));
    expect(readers.map((reader) => reader.readAll())).toEqual(contexts.map(() => ({})));
  });

  it("returns the same objects for equal evaluations, before a change and after it", async () => {
    const client = await ready({}, [...flags, flag("another", false)], [...flags]);
    const reader = client.withContext({ country: "FR" });
    const [one, all] = [reader.read("not_in_france"), reader.readAll()];
    expect(client.withContext({ country: "FR" }).read("not_in_france")).toBe(one);
    expect(reader.readAll()).toBe(all);
    await client.refresh();
    expect(reader.read("not_in_france")).toBe(one);
    expect(reader.readAll()).not.toBe(all);
    expect(reader.readAll().another).toEqual({ enabled: false, reason: "flag_disabled" });

    const before = reader.readAll();
    await client.refresh();
    expect(reader.readAll()).not.toBe(before);
  });

  it("returns the same object for all flags if a change does not affect its context", async () => {
    const changed = flags.map((each) =>
      each.key === "not_in_france" ? flagWithRule("not_in_france", "IT") : each,
    );
    const client = await ready({}, changed);
    const german = client.withContext({ country: "DE" });
    const french = client.withContext({ country: "FR" });
    const before = [german.readAll(), french.readAll()];
    const events = eventsOf(client);
    await client.refresh();
    expect(events).toContain("change not_in_france");
    expect(german.readAll()).toBe(before[0]);
    expect(french.readAll()).not.toBe(before[1]);
  });
});

describe("evaluateAll", () => {
  it("returns every flag, whatever its key", async () => {
    const client = await ready();
    const all = client.evaluateAll({ country: "FR" });
    expect(Object.keys(all)).toEqual(flags.map(({ key }) => key).sort());
    expect("toString" in all).toBe(false);
    expect(Object.isFrozen(all)).toBe(true);
    for (const key of Object.keys(all)) {
      expect(all[key]).toBe(client.evaluate(key, { country: "FR" }));
    }
  });
});

describe("explain", () => {
  it("returns every step", async () => {
    const client = await ready();
    const condition = {
      attribute: "country",
      operator: "==",
      valueType: "string",
      valueString: "FR",
    };
    const rule = { priority: 1, logic: "and", value: false };
    expect(client.explain("not_in_france", { country: "FR" })).toEqual({
      enabled: false,
      reason: "targeting_rule",
      rules: [
        {
          ...rule,
          matched: true,
          conditions: [{ ...condition, actual: "FR", outcome: "held" }],
        },
      ],
      rollout: null,
    });
    expect(client.explain("not_in_france").rules).toEqual([
      {
        ...rule,
        matched: false,
        conditions: [{ ...condition, actual: null, outcome: "missing" }],
      },
    ]);
    expect(client.explain("nobody_yet", { userId: "ada" }).rollout).toEqual({
      strategy: "per_user",
      percentage: 0,
      bucket: expect.any(Number),
    });
    expect(client.explain("on")).toEqual({
      enabled: true,
      reason: "flag_enabled",
      rules: [],
      rollout: null,
    });
    expect(() => client.explain("unknown")).toThrow("unknown");
  });
});

describe("fallbacks", () => {
  const fallbacks = JSON.parse(`{"unknown":true,"on":false,"__proto__":true}`);

  it("apply only to flags that do not exist", async () => {
    const client = await ready({ fallbacks }, []);
    expect(client.isEnabled("unknown")).toBe(true);
    expect(client.getValue("unknown")).toBe("fallback");
    expect(client.evaluate("unknown", {})).toEqual({ enabled: true, reason: "fallback" });
    expect(client.read("unknown")).toBe(client.evaluate("unknown"));
    expect(client.withContext({}).isEnabled("unknown")).toBe(true);
    expect(client.isEnabled("on")).toBe(true);
    expect(() => client.isEnabled("other")).toThrow("other");
    expect(() => client.isEnabled("toString")).toThrow("toString");
    await client.refresh();
    expect(client.getValue("on")).toBe("fallback");
    expect(client.getValue("__proto__")).toBe("fallback");
  });

  it("apply to flags that need the engine while there is none", async () => {
    const ruled = {
      key: "ruled",
      enabled: false,
      reason: "flag_disabled",
      targeted: true,
    } as const;
    const client = new FeatureFlagsClient({
      ...optionsFor(new ScriptedServer(held().answer)),
      bootstrap: { version: 1, flags: [ruled] },
      fallbacks: { ruled: true },
    });
    const fallback = { enabled: true, reason: "fallback" };
    expect(client.read("ruled", { country: "FR" })).toEqual(fallback);
    expect(client.withContext({}).peek("ruled")).toEqual(fallback);
    expect(client.evaluate("ruled", { country: "FR" })).toEqual(fallback);
    expect(client.withContext({}).isEnabled("ruled")).toBe(true);
    await client.shutdown();
  });

  it("do not make a client ready", () => {
    const client = new FeatureFlagsClient({ sdkKey: "k", fallbacks });
    const error = expect.objectContaining({ code: "NOT_INITIALIZED" });
    expect(() => client.isEnabled("unknown")).toThrow(error);
    expect(() => client.evaluate("unknown")).toThrow(error);
    expect(() => client.withContext({}).evaluate("unknown")).toThrow(error);
    expect(client.read("unknown")?.enabled).toBe(true);
    expect(client.withContext({}).isEnabled("unknown")).toBe(true);
  });
});

describe("a change", () => {
  it("is reported with the keys of the flags that are new, different or gone", async () => {
    const client = await ready(
      {},
      [flag("on"), flag("off"), flagWithRule("not_in_france", "IT"), flag("added")],
      [flag("on"), flag("off"), flagWithRule("not_in_france", "IT"), flag("added")],
    );
    const events = eventsOf(client);
    let notified = 0;
    client.subscribe(() => {
      notified += 1;
    });
    await client.refresh();
    await client.refresh();
    await client.refresh();
    const change = "change __proto__ added nobody_yet not_in_france off";
    const silent = ["refresh:start", "refresh:success"];
    expect(events).toEqual(["refresh:start", change, "refresh:success", ...silent, ...silent]);
    expect(notified).toBe(1);
  });

  it("is reported to subscribers until they unsubscribe, including the first flags", async () => {
    const server = new ScriptedServer(configuration(flags), configuration([flag("on")]));
    const client = clientFor(server);
    const notified: string[] = [];
    const { subscribe } = client;
    const leave = subscribe(() => notified.push(`one ${client.isReady()}`));
    subscribe(() => {
      notified.push("two");
      leave();
    });
    await client.initialize();
    expect(notified).toEqual(["one true", "two"]);
    await client.refresh();
    leave();
    await client.shutdown();
    expect(notified).toEqual(["one true", "two", "two", "two"]);
  });

  it("is reported to subscribers at shutdown, once and before its event", async () => {
    const client = await ready({}, flags);
    const reader = client.withContext({});
    const notified: string[] = [];
    client.subscribe(() => notified.push(`off ${reader.peek("off")}`));
    client.on("shutdown", () => notified.push("shutdown"));
    await client.shutdown();
    expect(notified).toEqual(["off undefined", "shutdown"]);
  });

  it("is not reported to listeners that an earlier one has removed", async () => {
    const client = await ready({}, [], flags);
    const notified: string[] = [];
    const listener = () => void notified.push("two");
    let leave = () => {};
    client.subscribe(() => leave());
    leave = client.subscribe(listener);
    client.on("change", () => client.off("change", listener)).on("change", listener);
    await client.refresh();
    expect(notified).toEqual([]);
  });

  it("is reported to listeners until they are removed", async () => {
    const client = await ready({}, [], flags);
    const notified: string[] = [];
    const listener = () => void notified.push("one");
    client.on("change", listener).on("change", () => void notified.push("two"));
    await client.refresh();
    client.off("change", listener).off("ready", listener);
    await client.refresh();
    expect(notified).toEqual(["one", "two", "two"]);
  });
});

describe("isTargeted", () => {
  it("returns true for flags whose evaluation may differ by context", async () => {
    const client = await ready();
    const keys = ["__proto__", "on", "off", "not_in_france", "nobody_yet", "unknown"];
    expect(keys.filter((key) => client.isTargeted(key))).toEqual(["not_in_france", "nobody_yet"]);
  });

  it("works with a snapshot too", async () => {
    const bootstrap = (await ready()).withContext({ country: "FR" }).snapshot();
    const page = new FeatureFlagsClient({ sdkKey: "none", bootstrap });
    expect([page.isTargeted("on"), page.isTargeted("not_in_france")]).toEqual([false, true]);
  });
});
