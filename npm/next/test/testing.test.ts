import * as flagsOfServer from "@pennon/next/flags";
import * as server from "@pennon/next/server";
import * as testing from "@pennon/next/testing";
import { getFeatureFlags, mockFeatureFlags, streamFeatureFlags } from "@pennon/next/testing";
import * as flagsOfTesting from "@pennon/next/testing/flags";
import { flag } from "flags/next";
import { beforeEach, describe, expect, expectTypeOf, it, onTestFinished, vi } from "vitest";

beforeEach(() => mockFeatureFlags());

describe("the functions of @pennon/next/testing", () => {
  it("have the names of the functions that they replace", () => {
    expect(Object.keys(testing)).toEqual(expect.arrayContaining(Object.keys(server)));
    expect(Object.keys(flagsOfTesting)).toEqual(Object.keys(flagsOfServer));
  });

  it("have compatible types", () => {
    expectTypeOf<typeof testing>().toExtend<typeof server>();
    expectTypeOf<typeof flagsOfTesting>().toExtend<typeof flagsOfServer>();
  });
});

describe("mocked flags", () => {
  it("are available at once, outside of requests, without a request to Pennon", async () => {
    const sent = vi.spyOn(globalThis, "fetch");
    mockFeatureFlags({ on: true, off: false });
    const flags = await getFeatureFlags({ userId: "ada" });
    expect(flags.evaluate("on")).toEqual({ enabled: true, reason: "flag_enabled" });
    expect(flags.evaluate("off")).toEqual({ enabled: false, reason: "flag_disabled" });
    expect(flags.explain("on")).toMatchObject({ enabled: true, rules: [] });
    expect(sent).not.toHaveBeenCalled();
    sent.mockRestore();
  });

  it("are the only flags, as in production", async () => {
    mockFeatureFlags({ on: true });
    const flags = await getFeatureFlags({}, { fallbacks: { fallen_back: true } });
    expect([flags.isEnabled("other"), flags.isEnabled("other", true)]).toEqual([false, true]);
    expect(flags.isEnabled("fallen_back")).toBe(true);
    expect(() => flags.evaluate("other")).toThrow(/The flag 'other' does not exist/);
  });

  it("are none by default", async () => {
    expect((await getFeatureFlags()).readAll()).toEqual({});
  });

  it("are those of the last call", async () => {
    mockFeatureFlags({ on: true });
    mockFeatureFlags({ on: false });
    expect((await getFeatureFlags()).isEnabled("on")).toBe(false);
    mockFeatureFlags();
    expect((await getFeatureFlags()).readAll()).toEqual({});
  });

  it("stay the same, however much time a test skips", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    mockFeatureFlags({ on: true });
    const flags = await getFeatureFlags();
    vi.advanceTimersByTime(120_000);
    expect(flags.isEnabled("on")).toBe(true);
    expect((await getFeatureFlags()).isEnabled("on")).toBe(true);
  });

  it("differ by context, if a function returns them", async () => {
    mockFeatureFlags(({ userId }) => ({ beta: userId === "ada" }));
    expect((await getFeatureFlags({ userId: "ada" })).isEnabled("beta")).toBe(true);
    expect((await getFeatureFlags({ userId: "bob" })).isEnabled("beta")).toBe(false);
    expect((await getFeatureFlags()).isEnabled("beta")).toBe(false);
  });

  it("are passed to a page unchanged", async () => {
    mockFeatureFlags({ b: true, a: false });
    const { subject, flags } = (await getFeatureFlags({ userId: "ada" })).snapshot();
    expect(subject?.context).toEqual({ userId: "ada" });
    expect(flags.map(({ key, enabled }) => [key, enabled]).sort()).toEqual([
      ["a", false],
      ["b", true],
    ]);
  });

  it("are sent once to a page with a stream", async () => {
    mockFeatureFlags({ on: true });
    const response = await streamFeatureFlags({ userId: "ada" });
    expect(response.headers.get("Content-Type")).toBe("text/event-stream");
    const { flags } = JSON.parse((await response.text()).replace("data: ", ""));
    expect(flags).toMatchObject([{ key: "on", enabled: true }]);
  });

  it("survive a reload of modules", async () => {
    mockFeatureFlags({ on: true });
    vi.resetModules();
    const again = await import("@pennon/next/testing");
    expect(again.getFeatureFlags).not.toBe(getFeatureFlags);
    expect((await again.getFeatureFlags()).isEnabled("on")).toBe(true);
  });
});

describe("the adapter of @pennon/next/testing/flags", () => {
  const request = new Request("http://shop.test");

  it("evaluates the mocked flags", async () => {
    mockFeatureFlags(({ country }) => ({ on: true, french: country === "FR" }));
    const { createPennonAdapter, pennonAdapter } = flagsOfTesting;
    const on = flag({ key: "on", adapter: pennonAdapter });
    const french = flag<boolean, testing.EvaluationContext>({
      key: "french",
      adapter: createPennonAdapter({ sdkKey: "pnk_other" }),
      identify: () => ({ country: "FR" }),
    });
    expect([await on(request), await french(request)]).toEqual([true, true]);
  });

  it("returns them for the Flags Explorer", async () => {
    mockFeatureFlags({ on: true, ["__proto__"]: true });
    const { definitions, hints } = await flagsOfTesting.getProviderData();
    expect([Object.keys(definitions).sort(), hints]).toEqual([["__proto__", "on"], []]);
  });
});
