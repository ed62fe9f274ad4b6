import { contextKey, type EvaluationContext, FeatureFlagsClient } from "@pennon/core";
import { afterEach, describe, expect, it } from "vitest";
import { configuration, flag, optionsFor, ScriptedServer } from "../../test-kit/scripted.ts";

const NAMES = ["one", "two", "three"];
const MANY_CALLS = 20_000;

/** A flag that is on for contexts whose attributes are all true. */
const beta = flag("beta", true, {
  rules: [
    {
      priority: 1,
      logic: "and",
      value: true,
      conditions: NAMES.map((attribute) => ({
        attribute,
        operator: "==",
        valueType: "boolean",
        valueBool: true,
      })),
    },
  ],
  rollout: { percentage: 0, strategy: "per_user" },
});

const on = Object.fromEntries(NAMES.map((name) => [name, true]));
const server = () => new ScriptedServer(configuration([beta]));

const clients = {
  "a local client": () => new FeatureFlagsClient(optionsFor(server())),
  "a remote client": () => new FeatureFlagsClient(optionsFor(server(), { mode: "remote" })),
  "a client with evaluations for one context": () =>
    FeatureFlagsClient.fromSnapshot({
      version: 1,
      flags: [{ key: "beta", enabled: true, reason: "flag_enabled", targeted: true }],
      subject: { context: {}, flags: [{ key: "beta", enabled: false, reason: "rollout" }] },
    }),
};

const reads: Record<string, (client: FeatureFlagsClient, context: EvaluationContext) => unknown> = {
  evaluate: (client, context) => client.evaluate("beta", context),
  read: (client, context) => client.read("beta", context),
  isEnabled: (client, context) => client.isEnabled("beta", context),
  explain: (client, context) => client.explain("beta", context),
  evaluateAll: (client, context) => client.evaluateAll(context),
  withContext: (client, context) => client.withContext(context).read("beta"),
  snapshot: (client, context) => client.withContext(context).snapshot(),
  contextKey: (_client, context) => contextKey(context),
  setContext: (client, context) => client.setContext(context).catch(() => {}),
  evaluateRemote: (client, context) => client.evaluateRemote("beta", context).catch(() => {}),
  "the option context": (_client, context) =>
    new FeatureFlagsClient(optionsFor(server(), { mode: "remote", context })),
};

/** Contexts that call a function whenever one of their attributes is read. */
const contexts: Record<string, (onRead: () => void) => EvaluationContext> = {
  getters(onRead) {
    const get = () => {
      onRead();
      return true;
    };
    const attributes = NAMES.map((name) => [name, { get, enumerable: true }] as const);
    return { customAttributes: Object.defineProperties({}, Object.fromEntries(attributes)) };
  },
  "a getter of customAttributes": (onRead) => ({
    get customAttributes() {
      onRead();
      onRead();
      return on;
    },
  }),
  "a proxy": (onRead) => {
    const traps = Object.getOwnPropertyNames(Reflect).map((trap) => [
      trap,
      (...given: unknown[]) => {
        onRead();
        return Reflect[trap as "get"](...(given as [object, string]));
      },
    ]);
    return new Proxy({ customAttributes: on }, Object.fromEntries(traps));
  },
};

describe("a context that reads flags for itself", () => {
  let client: FeatureFlagsClient;

  afterEach(() => client.shutdown());

  for (const [mode, create] of Object.entries(clients)) {
    for (const [shape, toContext] of Object.entries(contexts)) {
      it.each(Object.entries(reads))(`ends: %s, ${shape}, ${mode}`, async (_name, read) => {
        const traps: unknown[] = [];
        client = create();
        client.on("engine:error", (event) => traps.push(event));
        await client.initialize().catch(() => {});
        let calls = 0;
        const context = toContext(() => {
          calls += 1;
          if (calls < MANY_CALLS) {
            attempt(() => read(client, context));
          }
        });
        attempt(() => read(client, context));
        await new Promise((resolve) => setTimeout(resolve));
        expect(calls).toBeLessThan(MANY_CALLS);
        expect(traps).toEqual([]);
      });
    }
  }

  it("gets the evaluations of plain contexts, and attributes from them", async () => {
    client = clients["a local client"]();
    await client.initialize();
    const plain = { customAttributes: on };
    const context = {
      get customAttributes() {
        const isOn = [
          client.evaluate("beta", plain).enabled,
          client.explain("beta", plain).enabled,
          client.withContext(plain).isEnabled("beta"),
          contextKey(plain) !== contextKey({}),
        ];
        return { ...on, three: isOn.every(Boolean) };
      },
    };
    expect(client.evaluate("beta", context).enabled).toBe(true);
    expect(client.withContext(context).isEnabled("beta")).toBe(true);
    expect(client.explain("beta", context)).toMatchObject({
      enabled: true,
      rules: [{ conditions: NAMES.map(() => ({ outcome: "held", actual: true })) }],
    });
  });
});

function attempt(read: () => unknown): void {
  try {
    read();
  } catch {
    // In these modes, some reads fail.
  }
}
