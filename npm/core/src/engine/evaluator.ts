import type { ConditionTrace, Evaluation, Explanation } from "../evaluation.js";
import { type ConfiguredFlags, type FlagValue, UNSUPPORTED } from "../internal/flags.js";
import { attributeIn } from "./attributes.js";
import type { WasmExports } from "./bindings.js";
import { ContextWriter } from "./context-writer.js";
import { FlagBit } from "./protocol.js";

/** Matches the JSON value at the start of a text. For an array or object, the match ends after its first value. */
const VALUE = /^(?:"(?:[^"\\]|\\.)*"?|[^\s,\]}]+)/;

/** Evaluates the flags of the engine's configuration. */
export class Evaluator {
  readonly buffer: ConfigBuffer;
  readonly #exports: WasmExports;
  readonly #wasm: WasmExports["wasm"];
  readonly #contexts: ContextWriter;
  readonly #evaluations: readonly Evaluation[];
  /** The names of the attributes that each flag reads from a context, for the flags that have been evaluated. */
  #attributes: (readonly string[] | undefined)[] = [];

  /** `evaluations` has one object for each number that the engine returns. */
  constructor(exports: WasmExports, evaluations: readonly Evaluation[]) {
    this.#exports = exports;
    this.#wasm = exports.wasm;
    this.buffer = new ConfigBuffer(this.#wasm);
    this.#evaluations = evaluations;
    this.#contexts = new ContextWriter(this.#wasm);
  }

  /** Evaluates the flag at this position, or returns undefined if the configuration does not contain it. */
  evaluate(flag: number, context: unknown): Evaluation | undefined {
    const attributes = this.#attributes[flag] ?? this.#readAttributes(flag);
    this.#contexts.write(attributes, context);
    return this.#evaluations[this.#wasm.evaluate(flag)];
  }

  /**
   * Explains the evaluation of the flag at this position, or returns undefined if the configuration does not contain
   * it.
   */
  explain(flag: number, context: unknown): Explanation | undefined {
    // This also writes the context to the slots.
    if (this.evaluate(flag, context) === undefined) {
      return undefined;
    }
    const trace = this.#exports.text(this.#wasm.explain, flag);
    const explanation: Explanation = JSON.parse(trace ?? "null");
    const rules = explanation.rules.map((rule) => ({
      ...rule,
      conditions: rule.conditions.map((condition) => withActual(condition, context)),
    }));
    return { ...explanation, rules };
  }

  /** Loads a config document into the engine. Returns true if it is valid. */
  load(configuration: string | Uint8Array): boolean {
    const length = this.buffer.write(configuration);
    const isValid = this.#wasm.load(length) !== 0;
    if (isValid) {
      this.buffer.accept();
    }
    return isValid;
  }

  /** Returns the flags of the configuration that the engine has just loaded. */
  flags(): ConfiguredFlags {
    const [exports, wasm] = [this.#exports, this.#wasm];
    const keys = new KeyIndex(exports.bytes(wasm.keys), exports.integers(wasm.key_ends));
    // An array of this length stays an array; V8 would turn an empty one into a dictionary, which is slower, at the
    // first write.
    this.#attributes = new Array(keys.size);
    const defaults = exports.bytes(wasm.defaults);
    return {
      size: keys.size,
      key: (position) => keys.key(position),
      value: (position) => this.#toValue(defaults[position], position),
      find: (key) => keys.find(key),
      ttlSeconds: () => exports.integers(wasm.ttls),
      changes: () => JSON.parse(exports.text(wasm.changes) || "[]"),
      unsupported: this.#unsupported(defaults, keys),
      skipped: wasm.skipped(),
    };
  }

  #unsupported(defaults: Uint8Array, keys: KeyIndex): ConfiguredFlags["unsupported"] {
    const unsupported = [];
    // A loop, because it runs at each refresh, possibly for ten thousand flags.
    for (let position = 0; position < defaults.length; position += 1) {
      if (isUnsupported(defaults[position])) {
        unsupported.push({ key: keys.key(position), value: this.#unknownValue(position) });
      }
    }
    return unsupported;
  }

  /** Returns the value that makes the flag at this position unsupported, as JSON; empty if a member is missing. */
  #unknownValue(position: number): string {
    const start = this.#wasm.unsupported(position);
    return VALUE.exec(this.buffer.text(start, 64))?.[0] ?? "";
  }

  /** Returns the names of the attributes of this flag, in the order of its slots. */
  #readAttributes(flag: number): readonly string[] {
    const nameIn = (slot: number) => this.#exports.text(this.#wasm.attribute, flag, slot);
    const attributes: string[] = [];
    for (let name = nameIn(0); name !== undefined; name = nameIn(attributes.length)) {
      attributes.push(internalized(name));
    }
    this.#attributes[flag] = attributes;
    return attributes;
  }

  /** Returns a flag's evaluation without a context, by its number. */
  #toValue(number = NaN, index: number): FlagValue {
    const evaluation = this.#evaluations[number % FlagBit.Targeted];
    if (evaluation === undefined) {
      throw new RangeError("The engine returned a number that is not an evaluation");
    }
    return {
      evaluation,
      targeted: number >= FlagBit.Targeted,
      index: isUnsupported(number) ? UNSUPPORTED : index,
      hasWarned: false,
    };
  }
}

/** Returns the same string as the engine of JavaScript keeps for names of members, which it compares by address. */
function internalized(name: string): string {
  return Object.keys({ [name]: 0 })[0] ?? name;
}

function isUnsupported(number = 0): boolean {
  return number >= FlagBit.Unsupported;
}

/** Adds the actual value to a condition. It is read here, so that the engine need not return it. */
function withActual(condition: ConditionTrace, context: unknown): ConditionTrace {
  const isPresent = condition.outcome !== "missing";
  const actual = isPresent ? attributeIn(context, condition.attribute) : null;
  return { ...condition, actual: actual ?? null };
}

/**
 * Passes config documents to the engine, and keeps the last valid one. That document stays in the wasm memory, where
 * the engine has read it, and is copied only before another text overwrites it.
 */
export class ConfigBuffer {
  readonly #wasm: WasmExports["wasm"];
  #address = 0;
  /** The length of the last written text, and its valid length, which is the same or 0. */
  #written = 0;
  #validLength = 0;
  /** A copy of the last valid document, while the memory contains another text. */
  #copy: Uint8Array | undefined;

  constructor(wasm: WasmExports["wasm"]) {
    this.#wasm = wasm;
  }

  /** Writes a text to the engine's input, and returns its length in bytes. */
  write(text: string | Uint8Array): number {
    this.#copy = this.lastValid();
    this.#validLength = 0;
    this.#written =
      typeof text === "string"
        ? (this.#encode(text, text.length) ?? this.#encode(text, text.length * 3) ?? 0)
        : this.#set(text);
    return this.#written;
  }

  /** Marks the text that was written last as valid. */
  accept(): void {
    this.#copy = undefined;
    this.#validLength = this.#written;
  }

  /** Returns the last valid config document. Works after a trap too, because it only reads memory. */
  lastValid(): Uint8Array | undefined {
    return this.#validLength > 0 ? this.#view(this.#validLength).slice() : this.#copy;
  }

  /** Returns up to `length` bytes of the text that was written last, as a string. */
  text(start: number, length: number): string {
    const bytes = this.#view(this.#written).subarray(start, start + length);
    return new TextDecoder().decode(bytes);
  }

  #set(bytes: Uint8Array): number {
    this.#reserve(bytes.length).set(bytes);
    return bytes.length;
  }

  /** Encodes the text, or returns undefined if it needs more bytes than this. */
  #encode(text: string, bytes: number): number | undefined {
    const { read, written } = new TextEncoder().encodeInto(text, this.#reserve(bytes));
    return read === text.length ? written : undefined;
  }

  #reserve(length: number): Uint8Array {
    this.#address = this.#wasm.input(length);
    return this.#view(length);
  }

  #view(length: number): Uint8Array {
    return new Uint8Array(this.#wasm.memory.buffer, this.#address, length);
  }
}

/**
 * The keys of a configuration by position: one sorted text with all keys, and the end of each in it.
 *
 * It is rebuilt for all flags at every fetch, although applications read few of them. With ten thousand strings and a
 * `Map` instead, building it would take much of the loading time and most of the heap.
 */
export class KeyIndex {
  readonly #text: Uint8Array;
  readonly #ends: Uint32Array;

  /** Creates the index of these keys: `text` is UTF-8, sorted by bytes. */
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

  /** Returns the position of a key, or -1 if the configuration does not contain it. */
  find(key: string): number {
    const target = new TextEncoder().encode(key);
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = this.#compare(middle, target);
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

  /**
   * Returns a negative number if the key at this position sorts before the sought one, a positive number if it sorts
   * after, and 0 if they are equal.
   */
  #compare(position: number, target: Uint8Array): number {
    const start = this.#start(position);
    const length = (this.#ends[position] ?? start) - start;
    for (let index = 0; index < length && index < target.length; index += 1) {
      const difference = (this.#text[start + index] ?? 0) - (target[index] ?? 0);
      if (difference !== 0) {
        return difference;
      }
    }
    return length - target.length;
  }

  #start(position: number): number {
    return this.#ends[position - 1] ?? 0;
  }
}
