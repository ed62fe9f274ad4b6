import type { Engine } from "./engine.js";

/**
 * Hands configurations to the engine, and remembers the last good one: it stays where the engine has read it, and is copied
 * only to make room for another.
 */
export class Input {
  readonly #engine: Engine;
  #address = 0;
  /** How much there is of what was written last, and of it how much is good. */
  #written = 0;
  #good = 0;
  /** The last good one, while there is something else in its place. */
  #copy: Uint8Array | undefined;

  constructor(engine: Engine) {
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
    this.#address = this.#engine.input(length);
    return this.#view(length);
  }

  #view(length: number): Uint8Array {
    return new Uint8Array(this.#engine.memory.buffer, this.#address, length);
  }
}
