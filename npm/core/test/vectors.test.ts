import { readFileSync } from "node:fs";
import { type EvaluationContext, FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsClient as ClientWithoutWasm } from "@pennon/core/without-wasm";
import { afterAll, describe, expect, it } from "vitest";
import { configuration, type FlagConfig, optionsFor, ScriptedService } from "./scripted.ts";

interface Vectors {
  readonly description: string;
  readonly config: { readonly flags: readonly FlagConfig[] };
  readonly cases: readonly {
    readonly description: string;
    readonly key: string;
    readonly context?: EvaluationContext | null;
    readonly expected: { readonly enabled: boolean; readonly reason: string } | null;
  }[];
}

const folder = new URL("../../../tests/vectors/", import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(new URL(file, folder), "utf8"));
const index: { readonly files: readonly string[]; readonly cases: number } = read("index.json");
const engines = { wasm: FeatureFlagsClient, "plain JavaScript": ClientWithoutWasm };
const ran = new Map<string, number>();

describe.each(index.files)("the vectors of %s", (file) => {
  it.each(Object.entries(engines))("agree in %s", async (engine, Client) => {
    const { config, cases }: Vectors = read(file);
    const service = new ScriptedService(configuration(config.flags));
    const client = new Client(optionsFor(service));
    await client.initialize();
    for (const { description, key, context, expected } of cases) {
      expect(client.read(key, context) ?? null, description).toEqual(expected);
      if (expected === null) {
        expect(() => client.evaluate(key, context), description).toThrow(`'${key}'`);
      } else {
        expect(client.evaluate(key, context), description).toEqual(expected);
      }
      ran.set(engine, (ran.get(engine) ?? 0) + 1);
    }
    await client.shutdown();
  });
});

afterAll(() => {
  for (const engine of Object.keys(engines)) {
    console.log(`vectors: ${ran.get(engine)} of ${index.cases} cases agree in ${engine}`);
    expect(ran.get(engine)).toBe(index.cases);
  }
});
