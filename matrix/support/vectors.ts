import { readFileSync } from "node:fs";
import { expect } from "vitest";

interface Case {
  readonly key: string;
  readonly context?: unknown;
  readonly expected: { readonly enabled: boolean; readonly reason: string } | null;
}

interface Vectors {
  readonly config: { readonly flags: readonly unknown[] };
  readonly cases: readonly Case[];
}

const folder = new URL("../../tests/vectors/", import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(new URL(file, folder), "utf8"));
const index: { readonly files: readonly string[]; readonly cases: number } = read("index.json");
const vectors = new Map<string, Vectors>(index.files.map((file) => [file, read(file)]));

/** The configuration of each file; the file's name is its SDK key. */
export const configurations = new Map(
  Array.from(vectors, ([file, { config }]) => [file, JSON.stringify({ flags: config.flags })]),
);

/** What applications are asked: the cases of each file, without what is expected. */
export const questions = Array.from(vectors, ([sdkKey, { cases }]) => ({
  sdkKey,
  cases: cases.map(({ key, context }) => ({ key, context })),
}));

/** What the service says when it is asked for one evaluation. */
export const remote = { enabled: true, reason: "rollout" };

/** What `answers` of `apps/shared` says, as JSON or as what it means. */
export function expectRightAnswers(said: unknown, engine: "wasm" | "plain JavaScript"): void {
  const given = Array.from(vectors.values(), ({ cases }) => cases.map(({ expected }) => expected));
  expect(given.flat()).toHaveLength(index.cases);
  expect(typeof said === "string" ? JSON.parse(said) : said).toEqual({ engine, given, remote });
}
