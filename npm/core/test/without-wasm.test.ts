import { FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsClient as ClientWithoutWasm } from "@pennon/core/without-wasm";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  configuration,
  flag,
  flagWithRollout,
  flagWithRule,
  optionsFor,
  ScriptedServer,
} from "../../test-kit/scripted.ts";

const flags = [flagWithRule("beta", "GB"), flagWithRollout("dark_mode", 50), flag("old", false)];

/** The evaluations of a client that starts now, and its log messages above `debug`. */
async function answers(Client: typeof FeatureFlagsClient) {
  const lines: unknown[][] = [];
  const log = (...line: unknown[]) => void lines.push(line);
  const logger = { debug: () => {}, info: log, warn: log, error: log };
  const server = new ScriptedServer(configuration(flags));
  const client = new Client(optionsFor(server, { logger }));
  await client.initialize();
  const subjects = Array.from({ length: 100 }, (_, index) => ({
    userId: `user-${index}`,
    country: index % 3 === 0 ? "GB" : "é",
  }));
  const evaluations = subjects.map((subject) => client.evaluateAll(subject));
  const explained = subjects.map((subject) => client.explain("beta", subject));
  await client.shutdown();
  return { evaluations, explained, lines };
}

afterEach(() => vi.unstubAllGlobals());

describe("a client where wasm is blocked", () => {
  it("runs the engine in plain JavaScript, with one log message", async () => {
    const refusal = new Error("the content security policy forbids it");
    const withWasm = await answers(FeatureFlagsClient);
    expect(withWasm.lines).toEqual([]);
    const instantiate = () => Promise.reject(refusal);
    vi.stubGlobal("WebAssembly", { Module: WebAssembly.Module, instantiate });
    const without = await answers(FeatureFlagsClient);
    expect(without.lines).toEqual([[expect.stringContaining("plain JavaScript"), refusal]]);
    expect(without.evaluations).toEqual(withWasm.evaluations);
    expect(without.explained).toEqual(withWasm.explained);
  });
});

describe.each([
  ["@pennon/core", FeatureFlagsClient],
  ["@pennon/core/without-wasm", ClientWithoutWasm],
])("the memory of %s", (_, Client) => {
  it("may grow its memory between two contexts", async () => {
    const many = Array.from({ length: 4_000 }, (_, index) => flag(`filler-${index}`, true));
    const server = new ScriptedServer(configuration(flags));
    const client = new Client(optionsFor(server));
    await client.initialize();
    for (const filler of [0, 500, 1_000, 2_000, 4_000]) {
      server.respondWith(configuration([...flags, ...many.slice(0, filler)]));
      await client.refresh();
      for (const [country, reason] of [
        ["GB", "targeting_rule"],
        ["é", "flag_enabled"],
        ["GB", "targeting_rule"],
      ] as const) {
        expect(client.evaluate("beta", { country }).reason, `${filler} ${country}`).toBe(reason);
      }
      expect(client.evaluate("beta", {}).reason).toBe("flag_enabled");
    }
    await client.shutdown();
  });
});

describe("@pennon/core/without-wasm", () => {
  it("does not load wasm", async () => {
    vi.stubGlobal("WebAssembly", undefined);
    const { evaluations, lines } = await answers(ClientWithoutWasm);
    expect(lines).toEqual([]);
    vi.unstubAllGlobals();
    expect(evaluations).toEqual((await answers(FeatureFlagsClient)).evaluations);
  });
});
