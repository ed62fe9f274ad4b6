import type { AttributeValue } from "./attributes.js";
import type { Engine } from "./engine.js";
import { MAX_TEXT_BYTES, SlotTag } from "./protocol.js";

/** Up to this length a loop over the characters is quicker than a `TextEncoder`. */
const SHORT = 40;

/** A surrogate without its other half: no text, and nothing that the service would accept. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Writes the attributes of a subject to where the engine reads them. */
export class Slots {
  readonly #engine: Engine;
  readonly #encoder = new TextEncoder();
  /** The memory of an engine in plain JavaScript goes on in another buffer when it grows, and leaves the old one as it was. */
  readonly #moves: boolean;
  #slots = 16;
  /** Where the text of the next string goes. */
  #end = 0;
  #heads = new Uint32Array();
  #numbers = new Float64Array();
  #text = new Uint8Array();

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#moves = String(engine.memory) !== "[object WebAssembly.Memory]";
  }

  /** Begins with a new subject of this many attributes. */
  begin(slots: number): void {
    this.#end = 0;
    if (slots > this.#slots || this.#isLost()) {
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

  /** Whether the memory has grown: wasm then empties all views of it. To ask wasm for its buffer takes longer than to look. */
  #isLost(): boolean {
    return this.#moves ? this.#text.buffer !== this.#engine.memory.buffer : this.#text.length === 0;
  }

  #writeString(slot: number, text: string): void {
    const start = this.#end;
    const fits = start + text.length <= MAX_TEXT_BYTES;
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
    this.#engine.reserve(slots);
    this.#slots = slots;
    const { buffer } = this.#engine.memory;
    this.#heads = new Uint32Array(buffer, this.#engine.heads(), slots * 2);
    this.#numbers = new Float64Array(buffer, this.#engine.numbers(), slots);
    this.#text = new Uint8Array(buffer, this.#engine.text(), MAX_TEXT_BYTES);
  }
}
