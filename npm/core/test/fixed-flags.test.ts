import { FeatureFlagsClient } from "@pennon/core";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { flagWithRule } from "../../test-kit/scripted.ts";
import { clientWith } from "./snippets/client-with.js";

// The clients for tests in docs/testing.md.

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(globalThis, "fetch");
});

afterEach(() => {
  expect(fetch).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("a client with fixed flags keeps them, and sends nothing", async () => {
  const client = clientWith("new_checkout");
  const reader = client.withContext({ userId: "ada" });
  expect([reader.isEnabled("new_checkout"), reader.isEnabled("other")]).toEqual([true, false]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(client.withContext({}).isEnabled("new_checkout")).toBe(true);
  await client.shutdown();
});

it("a client with fixed rules keeps them, and sends nothing", async () => {
  const client = new FeatureFlagsClient({
    sdkKey: "pnk_test",
    bootstrap: { flags: [flagWithRule("ruled", "FR")] },
    staleIfError: true,
    transport: { send: () => Promise.reject(new Error("offline")) },
  });
  await client.initialize();
  vi.advanceTimersByTime(120_000);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(client.read("ruled", { country: "FR" })?.enabled).toBe(false);
  expect(client.read("ruled", { country: "GB" })?.enabled).toBe(true);
  await client.shutdown();
});
