import { readFileSync } from "node:fs";
import { type Evaluation, type EvaluationContext, FeatureFlagsClient } from "@pennon/core";
import { FeatureFlagsClient as ClientWithoutWasm } from "@pennon/core/without-wasm";
import { afterAll, describe, expect, it } from "vitest";
import {
  configuration,
  document,
  type FlagConfig,
  optionsFor,
  ScriptedServer,
} from "../../test-kit/scripted.ts";

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
interface Listed {
  readonly files: readonly string[];
  readonly cases: number;
}
const index: Listed & { readonly future: Listed } = read("index.json");
const engines = { wasm: FeatureFlagsClient, "plain JavaScript": ClientWithoutWasm };
const ran = new Map<string, number>();

/** Documents of newer servers. */
interface FutureVectors {
  readonly config: unknown;
  readonly cases: readonly {
    readonly description: string;
    readonly key: string;
    readonly context: EvaluationContext;
    readonly expected: Evaluation | "unsupported" | null;
    readonly ahead: Evaluation | null;
  }[];
}

describe.each(index.files)("the vectors of %s", (file) => {
  it.each(Object.entries(engines))("agree in %s", async (engine, Client) => {
    const { config, cases }: Vectors = read(file);
    const server = new ScriptedServer(configuration(config.flags));
    const client = new Client(optionsFor(server));
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

let ranOfFuture = 0;

describe.each(index.future.files)("the vectors of %s", (file) => {
  it.each(Object.entries(engines))("cost no flag that is known in %s", async (_engine, Client) => {
    const { config, cases }: FutureVectors = read(file);
    const client = new Client(optionsFor(new ScriptedServer(document(config))));
    await client.initialize();
    for (const { description, key, context, expected, ahead } of cases) {
      const evaluation = expected === "unsupported" ? null : expected;
      expect(client.read(key, context) ?? null, description).toEqual(evaluation);
      if (evaluation === null) {
        const code = expected === null ? "FLAG_NOT_FOUND" : "FLAG_UNSUPPORTED";
        for (const evaluate of [client.evaluate, client.explain]) {
          expect(() => evaluate.call(client, key, context), description).toThrow(
            expect.objectContaining({ code }),
          );
        }
      } else {
        expect(client.evaluate(key, context), description).toEqual(evaluation);
      }
      if (ahead !== null) {
        expect(client.isEnabled(key), description).toBe(ahead.enabled);
        expect(client.getValue(key), description).toBe(ahead.reason);
      }
      ranOfFuture += 1;
    }
    await client.shutdown();
  });
});

afterAll(() => {
  expect(ranOfFuture).toBe(index.future.cases * Object.keys(engines).length);
  for (const engine of Object.keys(engines)) {
    console.log(`vectors: ${ran.get(engine)} of ${index.cases} cases agree in ${engine}`);
    expect(ran.get(engine)).toBe(index.cases);
  }
});
