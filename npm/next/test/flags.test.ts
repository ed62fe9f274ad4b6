import type { EvaluationContext } from "@pennon/core";
import { createPennonAdapter, getProviderData, pennonAdapter } from "@pennon/next/flags";
import { getFeatureFlags } from "@pennon/next/server";
import { mergeProviderData, type ProviderData } from "flags";
import * as sdk from "flags/next";
import { evaluate, flag } from "flags/next";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  configuration,
  flag as configured,
  flagWithRule,
  ScriptedServer,
  unreachable,
} from "../../test-kit/scripted.ts";

vi.mock("next/server.js", () => ({ connection: async () => {} }));

let count = 0;
let server: ScriptedServer;

beforeEach(() => {
  count += 1;
  server = new ScriptedServer(configuration([configured("banner"), flagWithRule("ruled", "FR")]));
  vi.stubEnv("PENNON_SDK_KEY", `pnk_flags_${count}`);
  vi.stubEnv("PENNON_URL", "https://flags.example.com/");
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const options = () => ({ transport: server, pollIntervalMs: 0, retries: 1, retryDelayMs: 0 });

const from = (country: string) => new Request("http://shop.test", { headers: { country } });

interface Visitor {
  readonly seats: number;
}

/** Its type is incompatible with TypeScript's `exactOptionalPropertyTypes`. */
const declaredInCode = sdk.getProviderData as (flags: object) => ProviderData;

/** Declares the flag as an application does. */
const declare = (key: string, more: { readonly defaultValue?: boolean } = {}) =>
  flag<boolean, EvaluationContext<Visitor>>({
    key,
    adapter: createPennonAdapter(options()),
    identify: ({ headers }) => ({
      country: headers.get("country"),
      customAttributes: { seats: 1 },
    }),
    ...more,
  });

describe("a flag with the adapter", () => {
  it("is evaluated for the context that the application identifies", async () => {
    const ruled = declare("ruled");
    expect([await ruled(from("FR")), await ruled(from("DE"))]).toEqual([false, true]);
  });

  it("shares its client with everything else in the process", async () => {
    const reader = await getFeatureFlags({ country: "FR" }, options());
    const [one, other] = [declare("ruled"), declare("banner")];
    expect([await one(from("FR")), await other(from("FR"))]).toEqual([
      reader.isEnabled("ruled"),
      reader.isEnabled("banner"),
    ]);
    expect(server.requests).toHaveLength(1);
  });

  it("needs only environment variables", async () => {
    await getFeatureFlags({}, options());
    const banner = flag({ key: "banner", adapter: pennonAdapter });
    expect(await banner(from("FR"))).toBe(true);
  });

  it("is evaluated together with others for the same context", async () => {
    const adapter = createPennonAdapter(options());
    const identify = () => ({ country: "FR" });
    const decided = vi.fn();
    const counted = () => ({ ...adapter(), decide: decided });
    const flags = ["banner", "ruled", "unknown"].map((key) =>
      flag<boolean, EvaluationContext>({ key, adapter: counted, identify, defaultValue: true }),
    );
    expect(await evaluate(flags, from("FR"))).toEqual([true, false, true]);
    expect(decided).not.toHaveBeenCalled();
  });

  it("links to the dashboard", () => {
    const { definitions } = declaredInCode({
      own: flag({ key: "a b", adapter: pennonAdapter }),
      elsewhere: flag({
        key: "banner",
        adapter: createPennonAdapter({ dashboardUrl: "https://flags.example.com" }),
      }),
    });
    expect(definitions["a b"]?.origin).toBe("https://flags.example.com/dashboard/flags?q=a%20b");
    expect(definitions.banner?.origin).toBe("https://flags.example.com/dashboard/flags?q=banner");
  });

  it("has no link if the address of the dashboard is unknown", () => {
    vi.stubEnv("PENNON_URL", undefined);
    const { definitions } = declaredInCode({ own: flag({ key: "a", adapter: pennonAdapter }) });
    expect(definitions.a?.origin).toBeUndefined();
  });
});

describe("a flag that does not exist", () => {
  it("has the default value of its declaration, or is off", async () => {
    const warned = vi.spyOn(console, "warn");
    expect(await declare("unknown")(from("FR"))).toBe(false);
    expect(await declare("unknown", { defaultValue: true })(from("DE"))).toBe(true);
    expect(warned).not.toHaveBeenCalled();
  });

  it("has the same value while Pennon is down", async () => {
    server.respondWith(unreachable());
    expect(await declare("banner")(from("FR"))).toBe(false);
    expect(await declare("ruled", { defaultValue: true })(from("FR"))).toBe(true);
  });
});

describe("the data of the Flags Explorer", () => {
  it("contains every flag of the environment", async () => {
    const own = declaredInCode({ banner: declare("banner") });
    const { definitions, hints } = await mergeProviderData([own, getProviderData(options())]);
    expect(definitions.ruled).toEqual({
      options: [
        { value: false, label: "Off" },
        { value: true, label: "On" },
      ],
      origin: "https://flags.example.com/dashboard/flags?q=ruled",
    });
    expect(definitions.banner?.declaredInCode).toBe(true);
    expect(hints).toEqual([]);
  });

  it("contains a hint while there are no flags", async () => {
    server.respondWith(unreachable());
    const { definitions, hints } = await getProviderData(options());
    expect(definitions).toEqual({});
    expect(hints).toEqual([
      { key: "pennon/no-flags", text: expect.stringContaining("PENNON_SDK_KEY") },
    ]);
  });
});
