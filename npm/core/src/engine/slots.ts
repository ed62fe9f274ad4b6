import type { EvaluationContext } from "../evaluation.js";
import type { WasmExports } from "./bindings.js";
import { MAX_CONTEXT_BYTES, SlotTag } from "./protocol.js";

/** The length up to which a loop over the characters is faster than a `TextEncoder`. */
const SHORT = 40;

/** A lone surrogate. The service would reject the text. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Writes the attributes of a context to the engine's slots. */
export class Slots {
  readonly #wasm: WasmExports["wasm"];
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

  constructor(wasm: WasmExports["wasm"]) {
    this.#wasm = wasm;
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
    const wasm = this.#wasm;
    wasm.reserve(slots);
    this.#slots = slots;
    const { buffer } = wasm.memory;
    this.#heads = new Uint32Array(buffer, wasm.heads(), slots * 2);
    this.#numbers = new Float64Array(buffer, wasm.numbers(), slots);
    this.#text = new Uint8Array(buffer, wasm.text(), MAX_CONTEXT_BYTES);
  }
}

/** A value that the engine can compare. */
export type AttributeValue = string | number | boolean;

/** An object whose members may have any type. */
type Members = { readonly [Name in keyof EvaluationContext]?: unknown } & {
  readonly [name: string]: unknown;
};

/** An object whose members are those that every ordinary object inherits. */
const ORDINARY: Members = {};

/**
 * Returns the attribute with this name of a context of any type, or undefined. Never throws: getters and proxies may,
 * and a revoked proxy throws even from `Array.isArray`.
 */
export function attributeIn(context: unknown, name: string): AttributeValue | undefined {
  try {
    return isObject(context) ? attributeOf(context, name) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads each member in an expression of its own, so that the compiler can cache the offset of the member. */
function attributeOf(context: Members, name: string): AttributeValue | undefined {
  switch (name) {
    case "userId":
      return text(own(context, name, context.userId, ORDINARY.userId));
    case "tenantId":
      return text(own(context, name, context.tenantId, ORDINARY.tenantId));
    case "email":
      return text(own(context, name, context.email, ORDINARY.email));
    case "country":
      return text(own(context, name, context.country, ORDINARY.country));
    default: {
      const custom = own(
        context,
        "customAttributes",
        context.customAttributes,
        ORDINARY.customAttributes,
      );
      return isObject(custom) && !Array.isArray(custom)
        ? toAttributeValue(own(custom, name, custom[name], ORDINARY[name]))
        : undefined;
    }
  }
}

/**
 * Returns the value of a member, or undefined if the owner inherits it. `inherited` is the member of an ordinary
 * object. After the member has been read, the compiler knows the prototype of most owners, so comparing prototypes
 * takes less time than `Object.hasOwn`.
 */
function own(owner: object, name: string, value: unknown, inherited: unknown): unknown {
  const inheritsNone = Object.getPrototypeOf(owner) === Object.prototype && inherited === undefined;
  return inheritsNone || Object.hasOwn(owner, name) ? value : undefined;
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
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
