import { runInNewContext } from "node:vm";
import { contextKey, type EvaluationContext, FeatureFlagsClient } from "@pennon/core";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { readyClient } from "../../test-kit/clients.ts";
import { LogRecorder } from "../../test-kit/recorders.ts";
import { configuration, flag, optionsFor, ScriptedServer } from "../../test-kit/scripted.ts";

/** A flag that is on for contexts with an attribute of this value, and off for all others. */
function flagFor(attribute: string, value: string | number | boolean) {
  const operand =
    typeof value === "string"
      ? { valueType: "string", valueString: value }
      : typeof value === "number"
        ? { valueType: "number", valueInt: value }
        : { valueType: "boolean", valueBool: value };
  const conditions = (operator: string) => [{ attribute, operator, ...operand }];
  return flag(`${attribute}_is_${value}`, true, {
    rules: [{ priority: 1, logic: "and", value: true, conditions: conditions("==") }],
    rollout: { percentage: 0, strategy: "per_user" },
  });
}

/** A flag that is on for contexts that meet all of these conditions on strings. */
function flagWith(key: string, ...given: readonly (readonly [string, string, string])[]) {
  const conditions = given.map(([attribute, operator, valueString]) => ({
    attribute,
    operator,
    valueType: "string",
    valueString,
  }));
  return flag(key, true, {
    rules: [{ priority: 1, logic: "and", value: true, conditions }],
    rollout: { percentage: 0, strategy: "per_user" },
  });
}

/** Objects that are hard to read: revoked and throwing proxies, built-in objects, and objects of another realm. */
function hostileObjects(): unknown[] {
  const revoked = [{}, [], () => {}].map((target: object) => {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
  });
  const refuse = () => {
    throw new Error("refused");
  };
  const traps = Object.getOwnPropertyNames(Reflect);
  const throwing = traps.map(
    (trap) => new Proxy({ plan: 4, userId: "eve" }, { [trap]: refuse } as ProxyHandler<object>),
  );
  const everywhere = Object.fromEntries(traps.map((trap) => [trap, refuse]));
  return [
    ...revoked,
    ...throwing,
    new Proxy({}, everywhere as ProxyHandler<object>),
    new Proxy(revoked[0] as object, {}),
    new Date(Number.NaN),
    new Map([["plan", 3]]),
    new Uint8Array(3),
    Promise.resolve(3),
    Object.create(null),
    Object.freeze(["plan", 3]),
    Object.assign(() => {}, { plan: 3 }),
    Symbol.iterator,
    runInNewContext("({ plan: '3', userId: ['ada'] })"),
    runInNewContext(
      "new Proxy({}, { getPrototypeOf() { throw 3 }, getOwnPropertyDescriptor() { throw 3 } })",
    ),
  ];
}

const LONG = "x".repeat(1_000);
const UNUSUAL = "žluťoučký kůň 🐎";
const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "0"];
const flags = [
  flagFor("userId", "ada"),
  flagFor("userId", LONG),
  flagFor("email", UNUSUAL),
  flagFor("plan", 3),
  flagFor("beta", true),
  flagFor("text", "\uFFFD"),
  ...names.map((name) => flagFor(name, "mine")),
  flagWith("two_attributes", ["userId", "==", "ada"], ["country", "==", "GB"]),
  flagWith("userId_is_not_empty", ["userId", "!=", ""]),
  flagWith("country_is_not_empty", ["country", "!=", ""]),
].map((each, index) => ({
  ...each,
  key: each.key.length > 128 ? `long_${index}` : each.key.replace(/[^\w.:-]/gu, "_"),
}));

describe("a context", () => {
  let client: FeatureFlagsClient;
  const matches = (key: string, context: unknown): boolean =>
    client.evaluate(key, context as EvaluationContext).enabled;

  beforeAll(async () => {
    const logger = new LogRecorder(); // Contexts are checked for it.
    client = new FeatureFlagsClient(
      optionsFor(new ScriptedServer(configuration(flags)), { logger }),
    );
    await client.initialize();
  });

  it("may be any value", () => {
    const throwing = new Proxy(
      {},
      {
        get: () => {
          throw new Error("get");
        },
        getOwnPropertyDescriptor: () => {
          throw new Error("descriptor");
        },
      },
    );
    const contexts = [
      null,
      undefined,
      1,
      "ada",
      true,
      [],
      () => {},
      Symbol("s"),
      throwing,
      Object.create(null),
    ];
    for (const context of contexts) {
      expect(matches("userId_is_ada", context)).toBe(false);
      expect(matches("plan_is_3", { customAttributes: context })).toBe(false);
    }
  });

  it("has no attributes if it is a function, in a reader too", () => {
    const context = Object.assign(() => {}, { userId: "ada" }) as EvaluationContext;
    expect(matches("userId_is_ada", context)).toBe(false);
    expect(client.withContext(context).isEnabled("userId_is_ada")).toBe(false);
    expect(client.withContext(context).context).toEqual({});
  });

  it("may be hostile in every part without affecting other evaluations", () => {
    const events: string[] = [];
    client.on("engine:error", ({ type }) => events.push(type));
    for (const hostile of hostileObjects()) {
      const contexts = [
        hostile,
        { userId: hostile },
        { customAttributes: hostile },
        { customAttributes: { plan: hostile } },
      ];
      for (const context of contexts as EvaluationContext[]) {
        expect(matches("userId_is_ada", context)).toBe(false);
        expect(matches("plan_is_3", context)).toBe(false);
        expect(client.explain("plan_is_3", context).enabled).toBe(false);
        expect(client.isEnabled("plan_is_3")).toBe(true);
        const reader = client.withContext(context);
        expect(reader.read("plan_is_3")?.enabled).toBe(false);
        expect(reader.isEnabled("userId_is_ada")).toBe(false);
        expect(Object.keys(reader.readAll())).toHaveLength(flags.length);
        expect(matches("userId_is_ada", { userId: "ada" })).toBe(true);
      }
    }
    expect(events).toEqual([]);
  });

  it("may evaluate itself endlessly", () => {
    const events: string[] = [];
    client.on("engine:error", ({ type }) => events.push(type));
    const context = {
      get userId(): string {
        return matches("userId_is_ada", context) ? "ada" : "bob";
      },
    };
    expect(matches("userId_is_ada", context)).toBe(false);
    expect(matches("userId_is_ada", { userId: "ada" })).toBe(true);
    expect(events).toEqual([]);
  });

  it("may have getters that throw, which count as missing", () => {
    const context = {
      get userId(): string {
        throw new Error("no");
      },
    };
    expect(matches("userId_is_ada", context)).toBe(false);
  });

  it("treats values that the server would reject as missing", () => {
    for (const userId of [1, true, {}, ["ada"], null, new String("ada")]) {
      expect(matches("userId_is_ada", { userId })).toBe(false);
    }
    for (const plan of [
      "3",
      3n,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      { valueOf: () => 3 },
      null,
    ]) {
      expect(matches("plan_is_3", { customAttributes: { plan } })).toBe(false);
    }
    expect(matches("0_is_mine", { customAttributes: ["mine"] })).toBe(false);
    expect(matches("text_is__", { customAttributes: { text: "\uD800" } })).toBe(false);
    expect(matches("text_is__", { customAttributes: { text: "\uFFFD" } })).toBe(true);
    expect(matches("plan_is_3", { customAttributes: { plan: 3 } })).toBe(true);
    expect(matches("beta_is_true", { customAttributes: { beta: true } })).toBe(true);
  });

  it("may hold text of any length and script", () => {
    const long = flags.find(({ key }) => key.startsWith("long_"))?.key ?? "";
    expect(matches(long, { userId: LONG })).toBe(true);
    expect(matches(long, { userId: `${LONG}x` })).toBe(false);
    const unusual = flags.find(({ key }) => key.startsWith("email"))?.key ?? "";
    expect(matches(unusual, { email: UNUSUAL })).toBe(true);
  });

  it("may have getters that evaluate other flags, without affecting either evaluation", () => {
    const inner: boolean[] = [];
    const context = {
      userId: "ada",
      get country() {
        inner.push(matches("userId_is_ada", { userId: "bob" }), matches("plan_is_3", {}));
        return "GB";
      },
    };
    expect(matches("two_attributes", context)).toBe(true);
    expect(inner.every((enabled) => !enabled)).toBe(true);
    expect(client.explain("two_attributes", context)).toMatchObject({
      enabled: true,
      rules: [{ conditions: [{ actual: "ada" }, { actual: "GB" }] }],
    });
  });

  it("treats text that is too long for a request as missing, and keeps the rest", () => {
    const most = 64 * 1_024;
    const everybody = (attribute: string, length: number, text = "x") =>
      matches(`${attribute}_is_not_empty`, { [attribute]: text.repeat(length) });
    expect(everybody("userId", most)).toBe(true);
    expect(everybody("userId", most + 1)).toBe(false);
    expect(everybody("userId", most / 2, "é")).toBe(true);
    expect(everybody("userId", most / 2 + 1, "é")).toBe(false);
    expect(everybody("userId", 2 ** 28)).toBe(false);
    const long = { userId: "x".repeat(most), country: "GB" };
    expect(matches("two_attributes", { ...long, userId: "ada" })).toBe(true);
    expect(matches("country_is_not_empty", long)).toBe(true);
    expect(matches("userId_is_ada", { userId: "ada" })).toBe(true);
  });

  it("is read for own properties, not for inherited ones", () => {
    expect(matches("userId_is_ada", Object.create({ userId: "ada" }))).toBe(false);
    for (const name of names) {
      const key = `${name}_is_mine`;
      expect(matches(key, {})).toBe(false);
      expect(matches(key, { customAttributes: {} })).toBe(false);
      const own = JSON.parse(`{"customAttributes":{"${name}":"mine"}}`);
      expect(matches(key, own)).toBe(true);
    }
  });

  it("may be of any class, and so may its custom attributes", () => {
    class Mine {
      readonly userId = "ada";
      readonly plan = 3;
      get country(): string {
        return "GB";
      }
      get beta(): boolean {
        return true;
      }
    }
    const bare: object = Object.assign(Object.create(null), { userId: "ada", plan: 3 });
    for (const owner of [new Mine(), bare]) {
      const context = Object.assign(owner, { customAttributes: owner });
      expect(matches("userId_is_ada", context)).toBe(true);
      expect(matches("plan_is_3", context)).toBe(true);
      expect(matches("plan_is_3", { customAttributes: owner })).toBe(true);
      expect(matches("country_is_not_empty", context)).toBe(false);
      expect(matches("beta_is_true", { customAttributes: owner })).toBe(false);
    }
    expect(matches("plan_is_3", Object.create({ customAttributes: { plan: 3 } }))).toBe(false);
  });

  it("loses only the attributes whose getters throw", () => {
    const context = {
      get userId(): string {
        throw new Error("no");
      },
      country: "GB",
    };
    expect(matches("two_attributes", { userId: "ada", country: "FR" })).toBe(false);
    expect(client.explain("two_attributes", context).rules[0]?.conditions).toMatchObject([
      { actual: null, outcome: "missing" },
      { actual: "GB", outcome: "held" },
    ]);
  });

  it("inherits no property that was added to all objects", () => {
    const everything = Object.prototype as { userId?: string; plan?: number };
    try {
      everything.userId = "ada";
      everything.plan = 3;
      expect(matches("userId_is_ada", {})).toBe(false);
      expect(matches("userId_is_ada", { userId: "bob" })).toBe(false);
      expect(matches("userId_is_ada", { userId: "ada" })).toBe(true);
      expect(matches("plan_is_3", { customAttributes: {} })).toBe(false);
    } finally {
      delete everything.userId;
      delete everything.plan;
    }
  });

  it("never finds a built-in attribute among the custom ones, or vice versa", () => {
    expect(matches("userId_is_ada", { customAttributes: { userId: "ada" } })).toBe(false);
    expect(matches("plan_is_3", { plan: 3 })).toBe(false);
  });

  it("does not affect the next one", () => {
    expect(matches("userId_is_ada", { userId: "ada" })).toBe(true);
    expect(matches("userId_is_ada", {})).toBe(false);
  });
});

/** Returns a client, and a function that returns the messages that it has logged. */
async function logging() {
  const logger = new LogRecorder();
  const server = new ScriptedServer(configuration([flag("plain"), flagFor("plan", 3)]));
  const client = await readyClient(server, { logger });
  const logged = async () => {
    // The texts of these messages are loaded on demand.
    await vi.dynamicImportSettled();
    return logger.lines;
  };
  return { client, logged };
}

describe("an attribute that belongs under customAttributes", () => {
  it("is named in one warning", async () => {
    const { client, logged } = await logging();
    const context = { userId: "ada", plan: 3 } as EvaluationContext;
    client.evaluate("plan_is_3", context);
    client.evaluate("plan_is_3", context);
    client.withContext(context).read("plan_is_3");
    client.evaluateAll(context);
    expect(await logged()).toEqual([expect.stringMatching(/^warn: .*'plan'.*customAttributes/)]);
    client.read("plain", { seats: 3 } as EvaluationContext);
    expect(await logged()).toEqual([
      expect.stringContaining("'plan'"),
      expect.stringContaining("'seats'"),
    ]);
    await client.shutdown();
  });

  it("is found eventually if it is rare, and only a few are logged", async () => {
    const { client, logged } = await logging();
    for (let time = 0; time < 2_000; time += 1) {
      client.evaluate("plan_is_3", { userId: "ada", customAttributes: { plan: 3 } });
      client.evaluate("plan_is_3", null);
    }
    expect(await logged()).toEqual([]);
    for (let time = 0; time < 64; time += 1) {
      client.evaluate("plan_is_3", { plan: 3 } as EvaluationContext);
    }
    expect(await logged()).toHaveLength(1);
    const names = Array.from({ length: 1_000 }, (_, index) => [`name_${index}`, index]);
    for (let time = 0; time < 64; time += 1) {
      client.evaluate("plan_is_3", Object.fromEntries(names));
    }
    expect(await logged()).toHaveLength(20);
    await client.shutdown();
  });
});

describe("an attribute whose value counts as missing", () => {
  it("is named in one warning, with its type", async () => {
    const { client, logged } = await logging();
    const custom = { roles: ["admin"], since: new Date(0), seats: Number.NaN, big: 3n, run() {} };
    const context = { userId: 42, tenantId: {}, customAttributes: custom } as object;
    client.evaluate("plan_is_3", context);
    client.evaluate("plain", context);
    client.withContext(context).read("plan_is_3");
    const advice = "so it counts as missing. Pass a string, a finite number or a boolean.";
    expect(await logged()).toEqual([
      "warn: The attribute 'userId' of a context is a number, so it counts as missing. " +
        "Pass a string, such as String(id).",
      "warn: The attribute 'tenantId' of a context is an object, so it counts as missing. Pass a string.",
      `warn: The attribute 'roles' of a context is an array, ${advice}`,
      `warn: The attribute 'since' of a context is an object, ${advice}`,
      `warn: The attribute 'seats' of a context is NaN, ${advice}`,
      `warn: The attribute 'big' of a context is a bigint, ${advice}`,
      `warn: The attribute 'run' of a context is a function, ${advice}`,
    ]);
    await client.shutdown();
  });

  it.each([
    ["an array", ["pro"]],
    ["a Map", new Map([["plan", "pro"]])],
    ["a string", '{"plan":"pro"}'],
  ])("is named if all custom attributes are in %s", async (type, customAttributes) => {
    const { client, logged } = await logging();
    client.evaluate("plan_is_3", { customAttributes } as object);
    expect(await logged()).toEqual([
      `warn: The attribute 'customAttributes' of a context is ${type}, so it counts as missing. Pass a plain object.`,
    ]);
    await client.shutdown();
  });

  it("is not named if it is missing on purpose", async () => {
    const { client, logged } = await logging();
    const nothing = {
      userId: null,
      email: undefined,
      customAttributes: { plan: null, seats: undefined },
    };
    client.evaluate("plan_is_3", nothing);
    client.evaluate("plan_is_3", { tenantId: null, customAttributes: null });
    client.evaluate("plan_is_3", {
      userId: "",
      customAttributes: { plan: 0, beta: false, text: "" },
    });
    expect(await logged()).toEqual([]);
    await client.shutdown();
  });
});

describe("a flag", () => {
  it("may have the name of a property that every object inherits", async () => {
    const keys = ["__proto__", "constructor", "toString"];
    const server = new ScriptedServer(configuration(keys.map((key) => flag(key))));
    const client = await readyClient(server);
    expect(keys.map((key) => client.isEnabled(key))).toEqual([true, true, true]);
    expect(() => client.isEnabled("hasOwnProperty")).toThrow("hasOwnProperty");
    expect(client.read("valueOf")).toBeUndefined();
  });
});

describe("a flag whose rules isEnabled() and getValue() ignore", () => {
  it("is named in one warning, also after it has changed", async () => {
    const logger = new LogRecorder();
    const ruled = flagFor("plan", 3);
    const changed = { ...ruled, rollout: null };
    const server = new ScriptedServer(configuration([ruled]), configuration([changed], 'W/"2"'));
    const client = await readyClient(server, { logger });
    client.isEnabled("plan_is_3");
    await client.refresh();
    client.isEnabled("plan_is_3");
    client.getValue("plan_is_3");
    expect(logger.lines).toEqual([expect.stringMatching(/^warn: .*'plan_is_3'/)]);
  });
});

describe("contextKey", () => {
  it("is the same for contexts with the same attributes", () => {
    const custom = { plan: "pro", seats: 3 };
    const context = { userId: "ada", country: null, customAttributes: custom };
    const same: unknown[] = [
      { customAttributes: { seats: 3, plan: "pro" }, userId: "ada" },
      { ...context, customAttributes: { ...custom, list: [1], nothing: null, no: Number.NaN } },
      { ...context, email: undefined, tenantId: 7, unknown: true },
    ];
    for (const other of same) {
      expect(contextKey(other)).toBe(contextKey(context));
    }
    expect(contextKey(null)).toBe(contextKey({ customAttributes: {} }));
    expect(contextKey(null)).toBe(contextKey({ customAttributes: ["list"] }));
  });

  it("differs for other attributes", () => {
    const contexts = [
      {},
      { userId: "ada" },
      { tenantId: "ada" },
      { customAttributes: { userId: "ada" } },
      { customAttributes: { seats: 3 } },
      { customAttributes: { seats: "3" } },
    ];
    expect(new Set(contexts.map(contextKey)).size).toBe(contexts.length);
  });

  it("has the attributes that evaluations read, and no others", () => {
    const hidden = Object.defineProperty({}, "plan", { value: 3 });
    expect(contextKey({ customAttributes: hidden })).toBe(
      contextKey({ customAttributes: { plan: 3 } }),
    );
    const custom = {
      plan: 3,
      get userId(): string {
        throw new Error("no");
      },
    };
    expect(contextKey({ customAttributes: custom })).toBe(
      contextKey({ customAttributes: { plan: 3 } }),
    );
    const country = "GB";
    const context = {
      country,
      get userId(): string {
        throw new Error("no");
      },
    };
    expect(contextKey(context)).toBe(contextKey({ country }));
    for (const customAttributes of ["zero", Object.assign(() => {}, { plan: 3 })]) {
      expect(contextKey({ country, customAttributes })).toBe(contextKey({ country }));
    }
    for (const hostile of hostileObjects()) {
      expect(typeof contextKey(hostile)).toBe("string");
      expect(contextKey({ country, customAttributes: hostile })).toContain(country);
    }
  });

  it("ignores inherited members, as evaluations do", () => {
    class User {
      get userId() {
        return "ada";
      }
    }
    expect(contextKey(new User())).toBe(contextKey({}));
    const inherits = Object.create({ customAttributes: { plan: "pro" } });
    expect(contextKey(inherits)).toBe(contextKey({}));
  });
});
