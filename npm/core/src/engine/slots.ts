import { isWellFormed } from "../internal/attributes.js";
import type { WasmExports } from "./bindings.js";
import { MAX_CONTEXT_BYTES, SlotTag } from "./protocol.js";

/**
 * The length up to which a loop over the characters writes a text. A `TextEncoder` is faster from about 25 characters
 * in Node.js, and from about 100 in Chromium.
 */
const SHORT = 40;

/** The engine's slots, which hold the attributes of one context. */
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
    // Growth of a wasm memory detaches all views of it. Checking the length of one is faster than `memory.buffer`.
    if (slots > this.#slots || this.#text.length === 0 || this.#movesOnGrowth) {
      this.#reserve(Math.max(slots, this.#slots));
    }
  }

  /** Writes a value to a slot. A value that the server would reject counts as absent. */
  write(slot: number, value: unknown): void {
    if (typeof value === "string") {
      this.#writeString(slot, value);
    } else if (typeof value === "number" && Number.isFinite(value)) {
      this.#heads[slot * 2] = SlotTag.Number;
      this.#numbers[slot] = value;
    } else {
      this.#heads[slot * 2] = tagOf(value);
    }
  }

  #writeString(slot: number, text: string): void {
    const bytes = this.#text;
    const start = this.#end;
    const { length } = text;
    let index = 0;
    if (length <= SHORT && start <= MAX_CONTEXT_BYTES - SHORT) {
      for (; index < length; index += 1) {
        const unit = text.charCodeAt(index);
        if (unit > 0x7f) {
          break;
        }
        bytes[start + index] = unit;
      }
    }
    const written = index === length ? length : this.#writeUtf8(text);
    this.#end = start + Math.max(written, 0);
    this.#heads[slot * 2] = written < 0 ? SlotTag.Absent : SlotTag.String + written;
    this.#heads[slot * 2 + 1] = start;
  }

  /** Writes a text, and returns its length in bytes. Returns -1 if it does not fit or is not valid Unicode. */
  #writeUtf8(text: string): number {
    const isTooLong = text.length > MAX_CONTEXT_BYTES - this.#end;
    if (isTooLong || !isWellFormed(text)) {
      return -1;
    }
    const { read, written } = this.#encoder.encodeInto(text, this.#text.subarray(this.#end));
    return read < text.length ? -1 : written;
  }

  #reserve(slots: number): void {
    const wasm = this.#wasm;
    if (slots === this.#slots && this.#text.buffer === wasm.memory.buffer) {
      return;
    }
    wasm.reserve(slots);
    this.#slots = slots;
    const { buffer } = wasm.memory;
    this.#heads = new Uint32Array(buffer, wasm.heads(), slots * 2);
    this.#numbers = new Float64Array(buffer, wasm.numbers(), slots);
    this.#text = new Uint8Array(buffer, wasm.text(), MAX_CONTEXT_BYTES);
  }
}

function tagOf(value: unknown): SlotTag {
  return typeof value === "boolean" ? (value ? SlotTag.True : SlotTag.False) : SlotTag.Absent;
}
