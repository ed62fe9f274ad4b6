import type { EvaluationContext } from "../evaluation.js";
import type { WasmExports } from "./bindings.js";
import { BUILT_IN_ATTRIBUTES, MAX_CONTEXT_BYTES, SlotTag } from "./protocol.js";

/** The length up to which a loop over the characters is faster than a `TextEncoder`. */
const SHORT = 40;

/** A lone surrogate. The service would reject the text. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Writes the attributes of a context to the engine's slots. */
export class Slots {
  readonly #wasm: WasmExports["wasm"];
  readonly #engine: number;
  readonly #encoder = new TextEncoder();
  /**
   * True for an engine in plain JavaScript. When its memory grows, it moves to another buffer, and the old buffer keeps
   * its content.
   */
  readonly #movesOnGrowth: boolean;
  #slots = 16;
  /** The offset of the next string's text. */
  #end = 0;
  #heads = new Uint32Array();
  #numbers = new Float64Array();
  #text = new Uint8Array();

  constructor(wasm: WasmExports["wasm"], engine: number) {
    this.#wasm = wasm;
    this.#engine = engine;
    this.#movesOnGrowth = String(wasm.memory) !== "[object WebAssembly.Memory]";
  }

  /** Starts a context with this number of attributes. */
  begin(slots: number): void {
    this.#end = 0;
    if (slots > this.#slots || this.#isDetached()) {
      this.#reserve(Math.max(slots, this.#slots));
    }
  }

  write(slot: number, value: AttributeValue | undefined): void {
    switch (typeof value) {
      case "string":
        this.#writeString(slot, value);
        break;
      case "number":
        this.#heads[slot * 2] = SlotTag.Number;
        this.#numbers[slot] = value;
        break;
      case "boolean":
        this.#heads[slot * 2] = value ? SlotTag.True : SlotTag.False;
        break;
      default:
        this.#heads[slot * 2] = SlotTag.Absent;
    }
  }

  /**
   * Returns true if the memory has grown, which detaches all views of a wasm memory. Checking a view's length is faster
   * than reading `memory.buffer`.
   */
  #isDetached(): boolean {
    return this.#movesOnGrowth
      ? this.#text.buffer !== this.#wasm.memory.buffer
      : this.#text.length === 0;
  }

  #writeString(slot: number, text: string): void {
    const start = this.#end;
    const fits = start + text.length <= MAX_CONTEXT_BYTES;
    if (fits && (this.#writeAscii(text) || this.#writeUtf8(text))) {
      this.#heads[slot * 2] = SlotTag.String + this.#end - start;
      this.#heads[slot * 2 + 1] = start;
    } else {
      this.#heads[slot * 2] = SlotTag.Absent;
    }
  }

  #writeAscii(text: string): boolean {
    if (text.length > SHORT) {
      return false;
    }
    const bytes = this.#text;
    const start = this.#end;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) {
        return false;
      }
      bytes[start + index] = unit;
    }
    this.#end = start + text.length;
    return true;
  }

  #writeUtf8(text: string): boolean {
    if (LONE_SURROGATE.test(text)) {
      return false;
    }
    const { read, written } = this.#encoder.encodeInto(text, this.#text.subarray(this.#end));
    if (read < text.length) {
      return false;
    }
    this.#end += written;
    return true;
  }

  #reserve(slots: number): void {
    const [wasm, engine] = [this.#wasm, this.#engine];
    wasm.engine_reserve(engine, slots);
    this.#slots = slots;
    const { buffer } = wasm.memory;
    this.#heads = new Uint32Array(buffer, wasm.engine_heads(engine), slots * 2);
    this.#numbers = new Float64Array(buffer, wasm.engine_numbers(engine), slots);
    this.#text = new Uint8Array(buffer, wasm.engine_text(engine), MAX_CONTEXT_BYTES);
  }
}

/** A value that the engine can compare. */
export type AttributeValue = string | number | boolean;

/** Returns one attribute of a context of any type, or undefined. Never throws. */
export type ReadAttribute = (context: unknown) => AttributeValue | undefined;

type Member = keyof EvaluationContext;

/** Returns the reader of the attribute with this name. */
export function attributeReader(name: string): ReadAttribute {
  const builtIn = BUILT_IN_ATTRIBUTES.find((each) => each === name);
  return builtIn === undefined
    ? (context) => toAttributeValue(own(member(context, "customAttributes"), name))
    : (context) => text(member(context, builtIn));
}

/**
 * Does the same as `own` for the few names that are known in advance, but takes a quarter of the time: the compiler can
 * cache their offsets, and an ordinary object inherits none of these names.
 */
function member(context: unknown, name: Member): unknown {
  try {
    if (typeof context !== "object" || context === null) {
      return undefined;
    }
    const inheritsNone =
      Object.getPrototypeOf(context) === Object.prototype &&
      memberOf(Object.prototype, name) === undefined;
    return inheritsNone || Object.hasOwn(context, name) ? memberOf(context, name) : undefined;
  } catch {
    return undefined;
  }
}

function memberOf(context: Partial<Record<Member, unknown>>, name: Member): unknown {
  switch (name) {
    case "userId":
      return context.userId;
    case "tenantId":
      return context.tenantId;
    case "email":
      return context.email;
    case "country":
      return context.country;
    case "customAttributes":
      return context.customAttributes;
  }
}

/**
 * Returns an own member of a plain object. Getters and proxies may throw; a revoked proxy throws even from
 * `Array.isArray`.
 */
function own(owner: unknown, name: string): unknown {
  try {
    const isPlain = typeof owner === "object" && owner !== null && !Array.isArray(owner);
    return isPlain && Object.hasOwn(owner, name)
      ? (owner as Readonly<Record<string, unknown>>)[name]
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the value, or undefined if the service would reject it. */
function toAttributeValue(value: unknown): AttributeValue | undefined {
  switch (typeof value) {
    case "string":
      return text(value);
    case "number":
      return Number.isFinite(value) ? value : undefined;
    case "boolean":
      return value;
    default:
      return undefined;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
