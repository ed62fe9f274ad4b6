import { readFileSync } from "node:fs";
import { type EvaluationContext, FeatureFlagsClient } from "@pennon/core";
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
let ran = 0;

describe.each(index.files)("the vectors of %s", (file) => {
  it("agree", async () => {
    const { config, cases }: Vectors = read(file);
    const service = new ScriptedService(configuration(config.flags));
    const client = new FeatureFlagsClient(optionsFor(service));
    await client.initialize();
    for (const { description, key, context, expected } of cases) {
      expect(client.read(key, context) ?? null, description).toEqual(expected);
      if (expected === null) {
        expect(() => client.evaluate(key, context), description).toThrow(`'${key}'`);
      } else {
        expect(client.evaluate(key, context), description).toEqual(expected);
      }
      ran += 1;
    }
    await client.shutdown();
  });
});

afterAll(() => {
  console.log(`vectors: ${ran} of ${index.cases} cases agree in @pennon/core`);
  expect(ran).toBe(index.cases);
});
