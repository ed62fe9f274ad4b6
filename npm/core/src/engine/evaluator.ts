import type { ConditionTrace, Evaluation, Explanation } from "../evaluation.js";
import { type ConfiguredFlags, type FlagValue, UNSUPPORTED } from "../internal/flags.js";
import { attributeReader, type ReadAttribute } from "./attributes.js";
import type { Border } from "./border.js";
import { Directory } from "./directory.js";
import { Engine } from "./engine.js";
import { Input } from "./input.js";
import { FlagBit } from "./protocol.js";
import { Slots } from "./slots.js";

/** A value at the beginning of a text of JSON; of a structure as much as there is of its first value. */
const VALUE = /^(?:"(?:[^"\\]|\\.)*"?|[^\s,\]}]+)/;

/**
 * The deepest nesting of evaluations by getters of contexts. Below it, all attributes are absent: a context that evaluates
 * itself would otherwise exhaust the stack and trap the wasm.
 */
const MOST_NESTED = 8;

/** Evaluates the flags of the engine's configuration. */
export class Evaluator {
  readonly engine: Engine;
  readonly input: Input;
  readonly #slots: Slots;
  readonly #evaluations: readonly Evaluation[];
  /** How many subjects have been written to the slots. */
  #subjects = 0;
  /** The number of evaluations that are reading their contexts. */
  #nested = 0;
  /** What each flag that has been evaluated reads of a subject. */
  #attributes: (readonly ReadAttribute[] | undefined)[] = [];

  /** `evaluations` has one object for each number by which the engine answers. */
  constructor(border: Border, evaluations: readonly Evaluation[]) {
    this.engine = new Engine(border);
    this.input = new Input(this.engine);
    this.#evaluations = evaluations;
    this.#slots = new Slots(this.engine);
  }

  /** What the flag at this position is for a subject, or undefined if the configuration does not have it. */
  evaluate(flag: number, context: unknown): Evaluation | undefined {
    const attributes = this.#attributes[flag] ?? this.#readAttributes(flag);
    this.#nested += 1;
    this.#write(attributes, this.#nested > MOST_NESTED ? undefined : context);
    this.#nested -= 1;
    return this.#evaluations[this.engine.evaluate(flag)];
  }

  /** Writes the attributes of a context to the slots. */
  #write(attributes: readonly ReadAttribute[], context: unknown): void {
    this.#subjects += 1;
    const subject = this.#subjects;
    this.#slots.begin(attributes.length);
    for (let slot = 0; slot < attributes.length; slot += 1) {
      this.#slots.write(slot, attributes[slot]?.(context));
    }
    if (subject !== this.#subjects) {
      this.#writeOnceMore(attributes, context);
    }
  }

  /** One of the context's getters has evaluated another flag, which left its own subject in the slots. */
  #writeOnceMore(attributes: readonly ReadAttribute[], context: unknown): void {
    const values = attributes.map((read) => read(context));
    this.#slots.begin(values.length);
    for (const [slot, value] of values.entries()) {
      this.#slots.write(slot, value);
    }
  }

  /** How that comes about. */
  explain(flag: number, context: unknown): Explanation | undefined {
    // This also leaves the subject in the slots.
    if (this.evaluate(flag, context) === undefined) {
      return undefined;
    }
    const explanation: Explanation = JSON.parse(this.engine.explain(flag) ?? "null");
    const rules = explanation.rules.map((rule) => ({
      ...rule,
      conditions: rule.conditions.map((condition) => withActual(condition, context)),
    }));
    return { ...explanation, rules };
  }

  /** Gives the engine a configuration, and tells whether it is one. */
  load(configuration: string | Uint8Array): boolean {
    const good = this.engine.load(this.input.write(configuration));
    if (good) {
      this.input.accept();
    }
    return good;
  }

  /** Takes up the configuration that the engine has just loaded. */
  flags(): ConfiguredFlags {
    const directory = new Directory(this.engine.keys(), this.engine.ends());
    // An array of this length stays one; an empty one would become a table, which is slower, when it is first written to.
    this.#attributes = new Array(directory.size);
    const defaults = this.engine.defaults();
    return {
      size: directory.size,
      key: (position) => directory.key(position),
      value: (position) => this.#toValue(defaults[position], position),
      find: (key) => directory.find(key),
      ttlSeconds: () => this.engine.ttls(),
      changes: () => JSON.parse(this.engine.changes() || "[]"),
      unsupported: this.#unsupported(defaults, directory),
      skipped: this.engine.skipped(),
    };
  }

  #unsupported(defaults: Uint8Array, directory: Directory): ConfiguredFlags["unsupported"] {
    const unsupported = [];
    // A loop, because there may be ten thousand flags at each refresh.
    for (let position = 0; position < defaults.length; position += 1) {
      if (isUnsupported(defaults[position])) {
        unsupported.push({ key: directory.key(position), word: this.#unknownWord(position) });
      }
    }
    return unsupported;
  }

  /** The value that makes the flag at this position unsupported, as JSON; empty where a member is missing. */
  #unknownWord(position: number): string {
    return VALUE.exec(this.input.text(this.engine.unsupported(position), 64))?.[0] ?? "";
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

  /** A flag's evaluation ahead of time, by the number that stands for it. */
  #toValue(number = NaN, index: number): FlagValue {
    const evaluation = this.#evaluations[number % FlagBit.Targeted];
    if (evaluation === undefined) {
      throw new RangeError("the engine answered with a number that stands for nothing");
    }
    return {
      evaluation,
      targeted: number >= FlagBit.Targeted,
      index: isUnsupported(number) ? UNSUPPORTED : index,
      isTold: false,
    };
  }
}

function isUnsupported(number = 0): boolean {
  return number >= FlagBit.Unsupported;
}

/** A condition with the value that it met, which does not cross the border to be printed there. */
function withActual(condition: ConditionTrace, context: unknown): ConditionTrace {
  const met = condition.outcome !== "missing";
  const actual = met ? attributeReader(condition.attribute)(context) : null;
  return { ...condition, actual: actual ?? null };
}
