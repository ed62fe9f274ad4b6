import { readFileSync } from "node:fs";
import { expect } from "vitest";

interface Case {
  readonly key: string;
  readonly context?: unknown;
  readonly expected: { readonly enabled: boolean; readonly reason: string } | "unsupported" | null;
}

interface Vectors {
  readonly config: unknown;
  readonly cases: readonly Case[];
}

const folder = new URL("../../tests/vectors/", import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(new URL(file, folder), "utf8"));
interface Listed {
  readonly files: readonly string[];
  readonly cases: number;
}
const index: Listed & { readonly future: Listed } = read("index.json");
const files = [...index.files, ...index.future.files];
const vectors = new Map<string, Vectors>(files.map((file) => [file, read(file)]));

/** The config document of each file, by SDK key, which is the file's name. */
export const configurations = new Map(
  Array.from(vectors, ([file, { config }]) => [file, JSON.stringify(config)]),
);

/** The cases of each file, for the applications: without the expected results. */
export const cases = Array.from(vectors, ([sdkKey, { cases }]) => ({
  sdkKey,
  cases: cases.map(({ key, context }) => ({ key, context })),
}));

/** The server's response to a request for one evaluation. */
export const remote = { enabled: true, reason: "rollout" };

/** Expects the output of `evaluateVectors` in `apps/shared`, as JSON or parsed, to be right. */
export function expectVectors(output: unknown, engine: "wasm" | "plain JavaScript"): void {
  const results = Array.from(vectors.values(), ({ cases }) =>
    cases.map(({ expected }) => (expected === "unsupported" ? null : expected)),
  );
  expect(results.flat()).toHaveLength(index.cases + index.future.cases);
  const actual = typeof output === "string" ? JSON.parse(output) : output;
  expect(actual).toEqual({ engine, results, remote });
}
