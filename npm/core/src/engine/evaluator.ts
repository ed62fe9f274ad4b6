import type { ConditionTrace, Evaluation, Explanation } from "../evaluation.js";
import { type ConfiguredFlags, type FlagValue, UNSUPPORTED } from "../internal/flags.js";
import type { WasmExports } from "./bindings.js";
import { ConfigBuffer } from "./config-buffer.js";
import { ContextWriter } from "./context-writer.js";
import { KeyIndex } from "./key-index.js";
import { FlagBit } from "./protocol.js";
import { attributeIn } from "./read-attribute.js";

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
    const withoutContext = exports.bytes(wasm.without_context);
    return {
      size: keys.size,
      key: (position) => keys.key(position),
      value: (position) => this.#toValue(withoutContext[position], position),
      find: (key) => keys.find(key),
      ttlSeconds: () => exports.integers(wasm.ttls),
      changes: JSON.parse(exports.text(wasm.changes) || "[]"),
      unsupported: this.#unsupported(withoutContext, keys),
      skipped: wasm.skipped(),
    };
  }

  #unsupported(withoutContext: Uint8Array, keys: KeyIndex): ConfiguredFlags["unsupported"] {
    const unsupported = [];
    // A loop, because it runs at each refresh, possibly for ten thousand flags.
    for (let position = 0; position < withoutContext.length; position += 1) {
      if (isUnsupported(withoutContext[position])) {
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
