import type { AttributeValue } from "./attributes.js";
import type { Engine } from "./instance.js";

/** The tags of `sdk-wasm/src/slots.rs`. A string's tag is `STRING` plus its length in bytes. */
const ABSENT = 0;
const FALSE = 1;
const TRUE = 2;
const NUMBER = 3;
const STRING = 4;

/** Up to this length a loop over the characters is quicker than a `TextEncoder`. */
const SHORT = 40;

/** No unit of UTF-16 becomes more bytes of UTF-8. */
const MOST_BYTES = 3;

/** A surrogate without its other half: no text, and nothing that the service would accept. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Writes the attributes of a subject to where the engine reads them. */
export class Slots {
  readonly #engine: Engine;
  readonly #memory: WebAssembly.Memory;
  readonly #encoder = new TextEncoder();
  #slots = 16;
  #capacity = 1_024;
  /** Where the text of the next string goes. */
  #end = 0;
  #heads = new Uint32Array();
  #numbers = new Float64Array();
  #text = new Uint8Array();

  constructor(engine: Engine, memory: WebAssembly.Memory) {
    this.#engine = engine;
    this.#memory = memory;
  }

  /** Begins with a new subject of this many attributes. */
  begin(slots: number): void {
    this.#end = 0;
    // Whenever the memory grows, all views of it become empty.
    if (slots > this.#slots || this.#text.length === 0) {
      this.#reserve(Math.max(slots, this.#slots), this.#capacity);
    }
  }

  write(slot: number, value: AttributeValue | undefined): void {
    switch (typeof value) {
      case "string":
        this.#writeString(slot, value);
        break;
      case "number":
        this.#heads[slot * 2] = NUMBER;
        this.#numbers[slot] = value;
        break;
      case "boolean":
        this.#heads[slot * 2] = value ? TRUE : FALSE;
        break;
      default:
        this.#heads[slot * 2] = ABSENT;
    }
  }

  #writeString(slot: number, text: string): void {
    const start = this.#end;
    const most = start + text.length * MOST_BYTES;
    if (most > this.#capacity) {
      this.#reserve(this.#slots, most);
    }
    if (this.#writeAscii(text) || this.#writeUtf8(text)) {
      this.#heads[slot * 2] = STRING + this.#end - start;
      this.#heads[slot * 2 + 1] = start;
    } else {
      this.#heads[slot * 2] = ABSENT;
    }
  }

  #writeAscii(text: string): boolean {
    if (text.length > SHORT) {
      return false;
    }
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) {
        return false;
      }
      this.#text[this.#end + index] = unit;
    }
    this.#end += text.length;
    return true;
  }

  #writeUtf8(text: string): boolean {
    if (LONE_SURROGATE.test(text)) {
      return false;
    }
    this.#end += this.#encoder.encodeInto(text, this.#text.subarray(this.#end)).written;
    return true;
  }

  #reserve(slots: number, capacity: number): void {
    this.#engine.reserve(slots, capacity);
    this.#slots = slots;
    this.#capacity = capacity;
    const { buffer } = this.#memory;
    this.#heads = new Uint32Array(buffer, this.#engine.heads(), slots * 2);
    this.#numbers = new Float64Array(buffer, this.#engine.numbers(), slots);
    this.#text = new Uint8Array(buffer, this.#engine.text(), capacity);
  }
}
