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

/** Evaluates the flags of the engine's configuration. */
export class Evaluator {
  readonly engine: Engine;
  readonly #memory: WebAssembly.Memory;
  readonly #slots: Slots;
  /** What each flag that has been evaluated reads of a subject. */
  #attributes: (readonly ReadAttribute[] | undefined)[] = [];

  constructor({ Engine, memory }: Instance) {
    this.engine = new Engine();
    this.#memory = memory;
    this.#slots = new Slots(this.engine, memory);
  }

  /** What the flag at this position is for a subject, or undefined if the configuration does not have it. */
  evaluate(flag: number, context: unknown): Evaluation | undefined {
    const attributes = this.#attributes[flag] ?? this.#readAttributes(flag);
    this.#slots.begin(attributes.length);
    for (let slot = 0; slot < attributes.length; slot += 1) {
      this.#slots.write(slot, attributes[slot]?.(context));
    }
    return EVALUATIONS[this.engine.evaluate(flag)];
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
    this.#attributes = [];
    return {
      keys: JSON.parse(this.engine.keys()),
      values: Array.from(this.engine.defaults(), toValue),
      ttlSeconds: () => this.engine.ttls(),
    };
  }

  /** How to read the attributes of this flag, in the order of its slots. */
  #readAttributes(flag: number): readonly ReadAttribute[] {
    const attributes: ReadAttribute[] = [];
    for (
      let name = this.engine.attribute(flag, 0);
      name !== undefined;
      name = this.engine.attribute(flag, attributes.length)
    ) {
      attributes.push(attributeReader(name));
    }
    this.#attributes[flag] = attributes;
    return attributes;
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

function toValue(number: number, index: number): FlagValue {
  const evaluation = EVALUATIONS[number % TARGETED];
  if (evaluation === undefined) {
    throw new RangeError("the engine answered with a number that stands for nothing");
  }
  return { evaluation, targeted: number >= TARGETED, index };
}
