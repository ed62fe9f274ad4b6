import type { Evaluation, Reason } from "../evaluation.js";
import type { Flags, FlagValue } from "../internal/values.js";
import { attributeReader, type ReadAttribute } from "./attributes.js";
import type { Engine, Instance } from "./instance.js";
import { Slots } from "./slots.js";

/** In the order of `pennon_core::Reason`. */
const REASONS: readonly Reason[] = [
  "flag_enabled",
  "flag_disabled",
  "flag_archived",
  "targeting_rule",
  "rollout",
];

/** Every possible evaluation, by the number that stands for it at the border. */
const EVALUATIONS: readonly Evaluation[] = REASONS.flatMap((reason) =>
  [false, true].map((enabled) => Object.freeze({ enabled, reason })),
);

/** Added to that number, in an evaluation ahead of time, where a flag has rules or a rollout. */
const TARGETED = 16;

/** The same evaluations as values to be served. */
const PLAIN = EVALUATIONS.map((evaluation) => ({ evaluation, targeted: false }));
const TARGETED_ONES = EVALUATIONS.map((evaluation) => ({ evaluation, targeted: true }));

/** What the engine answers when there is no such flag. */
const NONE = 0xffff_ffff;

/** A flag, and what it reads of a subject. */
interface TargetedFlag {
  readonly index: number;
  readonly attributes: readonly ReadAttribute[];
}

/** Evaluates the flags of the engine's configuration. */
export class Evaluator {
  readonly engine: Engine;
  readonly #memory: WebAssembly.Memory;
  readonly #slots: Slots;
  readonly #flags = new Map<string, TargetedFlag | undefined>();

  constructor({ Engine, memory }: Instance) {
    this.engine = new Engine();
    this.#memory = memory;
    this.#slots = new Slots(this.engine, memory);
  }

  /** What the flag is for this subject, or undefined if the configuration does not have it. */
  evaluate(key: string, context: unknown): Evaluation | undefined {
    const flag = this.#flags.get(key) ?? this.#find(key);
    if (flag === undefined) {
      return undefined;
    }
    const { index, attributes } = flag;
    this.#slots.begin(attributes.length);
    for (let slot = 0; slot < attributes.length; slot += 1) {
      this.#slots.write(slot, attributes[slot]?.(context));
    }
    return EVALUATIONS[this.engine.evaluate(index)];
  }

  /** Writes the text of a configuration to the engine's input, and gives its length in bytes. */
  fill(body: string | Uint8Array): number {
    if (typeof body === "string") {
      return this.#encode(body, body.length) ?? this.#encode(body, body.length * 3) ?? 0;
    }
    this.#input(body.length).set(body);
    return body.length;
  }

  /** Takes up the configuration that the engine has just loaded. */
  flags(): Flags {
    this.#flags.clear();
    const values = Array.from(this.engine.defaults(), toValue);
    const all = this.engine.keys();
    let end = 0;
    const keys = Array.from(this.engine.keyLengths(), (length) => {
      const start = end;
      end += length;
      return all.slice(start, end);
    });
    return { keys, values, ttlSeconds: () => this.engine.ttls() };
  }

  #find(key: string): TargetedFlag | undefined {
    const index = this.engine.find(key);
    if (index === NONE) {
      return undefined;
    }
    const attributes: ReadAttribute[] = [];
    for (
      let name = this.engine.attribute(index, 0);
      name !== undefined;
      name = this.engine.attribute(index, attributes.length)
    ) {
      attributes.push(attributeReader(name));
    }
    const flag = { index, attributes };
    this.#flags.set(key, flag);
    return flag;
  }

  /** Gives undefined if the text takes more bytes than this. */
  #encode(text: string, bytes: number): number | undefined {
    const { read, written } = new TextEncoder().encodeInto(text, this.#input(bytes));
    return read === text.length ? written : undefined;
  }

  #input(length: number): Uint8Array {
    const address = this.engine.input(length);
    return new Uint8Array(this.#memory.buffer, address, length);
  }
}

function toValue(number: number): FlagValue {
  const value = number < TARGETED ? PLAIN[number] : TARGETED_ONES[number - TARGETED];
  if (value === undefined) {
    throw new RangeError("the engine answered with a number that stands for nothing");
  }
  return value;
}
