import type { ConditionTrace, Evaluation, Explanation } from "../evaluation.js";
import { type ConfiguredFlags, type FlagValue, UNSUPPORTED } from "../internal/flags.js";
import type { WasmExports } from "./bindings.js";
import { FlagBit } from "./protocol.js";
import { attributeReader, type ReadAttribute, Slots } from "./slots.js";

/** A value at the beginning of a text of JSON; of a structure as much as there is of its first value. */
const VALUE = /^(?:"(?:[^"\\]|\\.)*"?|[^\s,\]}]+)/;

/**
 * The deepest nesting of evaluations by getters of contexts. Below it, all attributes are absent: a context that evaluates
 * itself would otherwise exhaust the stack and trap the wasm.
 */
const MOST_NESTED = 8;

/** Evaluates the flags of the engine's configuration. */
export class Evaluator {
  /** The address of the `Engine` in the wasm's memory. */
  readonly engine: number;
  readonly input: ConfigBuffer;
  readonly #exports: WasmExports;
  readonly #wasm: WasmExports["wasm"];
  readonly #slots: Slots;
  readonly #evaluations: readonly Evaluation[];
  /** How many subjects have been written to the slots. */
  #subjects = 0;
  /** The number of evaluations that are reading their contexts. */
  #nested = 0;
  /** What each flag that has been evaluated reads of a subject. */
  #attributes: (readonly ReadAttribute[] | undefined)[] = [];

  /** `evaluations` has one object for each number by which the engine answers. */
  constructor(exports: WasmExports, evaluations: readonly Evaluation[]) {
    this.#exports = exports;
    this.#wasm = exports.wasm;
    this.engine = this.#wasm.engine_new();
    this.input = new ConfigBuffer(this.#wasm, this.engine);
    this.#evaluations = evaluations;
    this.#slots = new Slots(this.#wasm, this.engine);
  }

  /** What the flag at this position is for a subject, or undefined if the configuration does not have it. */
  evaluate(flag: number, context: unknown): Evaluation | undefined {
    const attributes = this.#attributes[flag] ?? this.#readAttributes(flag);
    this.#nested += 1;
    this.#write(attributes, this.#nested > MOST_NESTED ? undefined : context);
    this.#nested -= 1;
    return this.#evaluations[this.#wasm.engine_evaluate(this.engine, flag)];
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
    const trace = this.#exports.text(this.#wasm.engine_explain, this.engine, flag);
    const explanation: Explanation = JSON.parse(trace ?? "null");
    const rules = explanation.rules.map((rule) => ({
      ...rule,
      conditions: rule.conditions.map((condition) => withActual(condition, context)),
    }));
    return { ...explanation, rules };
  }

  /** Gives the engine a configuration, and tells whether it is one. */
  load(configuration: string | Uint8Array): boolean {
    const length = this.input.write(configuration);
    const good = this.#wasm.engine_load(this.engine, length) !== 0;
    if (good) {
      this.input.accept();
    }
    return good;
  }

  /** Takes up the configuration that the engine has just loaded. */
  flags(): ConfiguredFlags {
    const [exports, wasm, engine] = [this.#exports, this.#wasm, this.engine];
    const keys = new KeyIndex(
      exports.bytes(wasm.engine_keys, engine),
      exports.words(wasm.engine_ends, engine),
    );
    // An array of this length stays one; an empty one would become a table, which is slower, when it is first written to.
    this.#attributes = new Array(keys.size);
    const defaults = exports.bytes(wasm.engine_defaults, engine);
    return {
      size: keys.size,
      key: (position) => keys.key(position),
      value: (position) => this.#toValue(defaults[position], position),
      find: (key) => keys.find(key),
      ttlSeconds: () => exports.words(wasm.engine_ttls, engine),
      changes: () => JSON.parse(exports.text(wasm.engine_changes, engine) || "[]"),
      unsupported: this.#unsupported(defaults, keys),
      skipped: wasm.engine_skipped(engine),
    };
  }

  #unsupported(defaults: Uint8Array, keys: KeyIndex): ConfiguredFlags["unsupported"] {
    const unsupported = [];
    // A loop, because there may be ten thousand flags at each refresh.
    for (let position = 0; position < defaults.length; position += 1) {
      if (isUnsupported(defaults[position])) {
        unsupported.push({ key: keys.key(position), word: this.#unknownWord(position) });
      }
    }
    return unsupported;
  }

  /** The value that makes the flag at this position unsupported, as JSON; empty where a member is missing. */
  #unknownWord(position: number): string {
    const start = this.#wasm.engine_unsupported(this.engine, position);
    return VALUE.exec(this.input.text(start, 64))?.[0] ?? "";
  }

  /** How to read the attributes of this flag, in the order of its slots. */
  #readAttributes(flag: number): readonly ReadAttribute[] {
    const nameIn = (slot: number) =>
      this.#exports.text(this.#wasm.engine_attribute, this.engine, flag, slot);
    const attributes: ReadAttribute[] = [];
    for (let name = nameIn(0); name !== undefined; name = nameIn(attributes.length)) {
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

/** A condition with the value that it met, which does not cross the boundary to be printed there. */
function withActual(condition: ConditionTrace, context: unknown): ConditionTrace {
  const met = condition.outcome !== "missing";
  const actual = met ? attributeReader(condition.attribute)(context) : null;
  return { ...condition, actual: actual ?? null };
}

/**
 * Hands configurations to the engine, and remembers the last good one: it stays where the engine has read it, and is copied
 * only to make room for another.
 */
export class ConfigBuffer {
  readonly #wasm: WasmExports["wasm"];
  readonly #engine: number;
  #address = 0;
  /** How much there is of what was written last, and of it how much is good. */
  #written = 0;
  #good = 0;
  /** The last good one, while there is something else in its place. */
  #copy: Uint8Array | undefined;

  constructor(wasm: WasmExports["wasm"], engine: number) {
    this.#wasm = wasm;
    this.#engine = engine;
  }

  /** Writes a text to where the engine reads, and gives its length in bytes. */
  write(text: string | Uint8Array): number {
    this.#copy = this.good();
    this.#good = 0;
    this.#written =
      typeof text === "string"
        ? (this.#encode(text, text.length) ?? this.#encode(text, text.length * 3) ?? 0)
        : this.#set(text);
    return this.#written;
  }

  /** What was written last has turned out to be good. */
  accept(): void {
    this.#copy = undefined;
    this.#good = this.#written;
  }

  /** The last good configuration. After a trap too: nothing but memory is looked at. */
  good(): Uint8Array | undefined {
    return this.#good > 0 ? this.#view(this.#good).slice() : this.#copy;
  }

  /** Up to so many bytes of what was written last, as text. */
  text(start: number, length: number): string {
    const bytes = this.#view(this.#written).subarray(start, start + length);
    return new TextDecoder().decode(bytes);
  }

  #set(bytes: Uint8Array): number {
    this.#reserve(bytes.length).set(bytes);
    return bytes.length;
  }

  /** Gives undefined if the text takes more bytes than this. */
  #encode(text: string, bytes: number): number | undefined {
    const { read, written } = new TextEncoder().encodeInto(text, this.#reserve(bytes));
    return read === text.length ? written : undefined;
  }

  #reserve(length: number): Uint8Array {
    this.#address = this.#wasm.engine_input(this.#engine, length);
    return this.#view(length);
  }

  #view(length: number): Uint8Array {
    return new Uint8Array(this.#wasm.memory.buffer, this.#address, length);
  }
}

/**
 * The keys of a configuration, each known by its position: one text of all of them, sorted, and where each ends in it.
 *
 * It is made at every fetch and for every flag, and applications ask for few of them. To make ten thousand strings, and a
 * `Map` of them, would take a good part of the time of loading, and most of the memory on the heap.
 */
export class KeyIndex {
  readonly #text: Uint8Array;
  readonly #ends: Uint32Array;

  /** The keys in UTF-8, in the order of their bytes. */
  constructor(text: Uint8Array, ends: Uint32Array) {
    this.#text = text;
    this.#ends = ends;
  }

  get size(): number {
    return this.#ends.length;
  }

  key(position: number): string {
    return new TextDecoder().decode(
      this.#text.subarray(this.#start(position), this.#ends[position]),
    );
  }

  /** The position of a key, or -1 if it is not one. */
  find(key: string): number {
    const sought = new TextEncoder().encode(key);
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = this.#compare(middle, sought);
      if (order === 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return -1;
  }

  /** Whether the key at this position comes before (negative) or after (positive) the one that is sought. */
  #compare(position: number, sought: Uint8Array): number {
    const start = this.#start(position);
    const length = (this.#ends[position] ?? start) - start;
    for (let index = 0; index < length && index < sought.length; index += 1) {
      const difference = (this.#text[start + index] ?? 0) - (sought[index] ?? 0);
      if (difference !== 0) {
        return difference;
      }
    }
    return length - sought.length;
  }

  #start(position: number): number {
    return this.#ends[position - 1] ?? 0;
  }
}
