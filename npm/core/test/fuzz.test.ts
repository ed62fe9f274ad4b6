import type { EvaluationContext } from "@pennon/core";
import { describe, expect, it } from "vitest";
import { clientFor } from "../../test-kit/clients.ts";
import { eventsOf } from "../../test-kit/recorders.ts";
import {
  type FlagConfig,
  flag,
  flagWithRollout,
  flagWithRule,
  ScriptedServer,
} from "../../test-kit/scripted.ts";

const ROUNDS = 2_000;

/** A source of pseudorandom numbers, the same in each run. */
class Chance {
  #state = 0x9e37_79b9;

  below(bound: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % bound;
  }

  of<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined && choices.length === 0) {
      throw new RangeError("there is nothing to choose from");
    }
    return choice as T;
  }
}

const chance = new Chance();
const STRINGS = [
  "",
  "FR",
  "ada",
  "__proto__",
  "\u0000",
  "\uD800",
  "🐎".repeat(40),
  "x".repeat(9_999),
];
const VALUES = [
  ...STRINGS,
  0,
  -0,
  2 ** 53,
  Number.NaN,
  1e300,
  true,
  false,
  null,
  undefined,
  3n,
  [],
];
const NAMES = ["userId", "tenantId", "email", "country", "\ufeffplan", "__proto__", "constructor"];

function context(): EvaluationContext {
  const members = (depth: number): unknown =>
    Object.fromEntries(
      Array.from({ length: chance.below(5) }, () => [
        chance.of(NAMES),
        depth > 0 && chance.below(4) === 0 ? members(depth - 1) : chance.of<unknown>(VALUES),
      ]),
    );
  return Object.assign(Object(members(1)), {
    customAttributes: chance.of([members(1), null, "a"]),
  });
}

/** Returns the text of a config document, which is usually damaged somewhere. */
function text(): string {
  const flags: FlagConfig[] = Array.from({ length: chance.below(6) }, (_, index) =>
    chance.of([
      () => flag(chance.of(STRINGS) + index),
      () => flagWithRule(`ruled_${index}`, chance.of(STRINGS)),
      () => flagWithRollout(`rolled_${index}`, chance.below(101)),
    ])(),
  );
  const good = JSON.stringify({ flags });
  const at = chance.below(good.length);
  const damage = chance.of([
    "",
    "",
    "\\",
    '"',
    "[",
    "{".repeat(99),
    "-",
    "9".repeat(40),
    "\u0000",
    "null",
  ]);
  return good.slice(0, at) + damage + good.slice(at + chance.below(3));
}

/** Returns the same as bytes, some of which are not valid UTF-8. */
function bytes(): Uint8Array {
  const bytes = new TextEncoder().encode(text());
  for (let change = chance.below(3); change > 0; change -= 1) {
    bytes[chance.below(bytes.length)] = chance.below(256);
  }
  return bytes;
}

function noise(): Uint8Array {
  return Uint8Array.from({ length: chance.below(200) }, () => chance.below(256));
}

describe("the engine", () => {
  it("survives every configuration and every context", async () => {
    const server = new ScriptedServer(() => ({
      status: 200,
      headers: new Headers(),
      body: chance.of<() => string | Uint8Array>([text, text, bytes, bytes, noise])(),
    }));
    const client = clientFor(server, { bootstrap: { flags: [] }, retries: 1, retryDelayMs: 0 });
    const events = eventsOf(client);
    await client.initialize();
    let [good, bad, answers] = [0, 0, 0];
    for (let round = 0; round < ROUNDS; round += 1) {
      await client.refresh().then(
        () => (good += 1),
        () => (bad += 1),
      );
      const subject = context();
      const all = client.evaluateAll(subject);
      for (const [key, evaluation] of Object.entries(all)) {
        answers += 1;
        expect(client.explain(key, subject)).toMatchObject(evaluation);
        expect(client.withContext(subject).read(key)).toBe(evaluation);
      }
    }
    expect(events.filter((event) => event === "engine:error")).toEqual([]);
    // Proves that the test does not degenerate to no evaluations, or always the same one.
    expect(good).toBeGreaterThan(ROUNDS / 20);
    expect(bad).toBeGreaterThan(ROUNDS / 10);
    expect(answers).toBeGreaterThan(ROUNDS);
  });
});
