import type { WasmExports } from "./bindings.js";

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

  /** Writes a text to the engine's buffer, and returns its length in bytes. */
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
    this.#address = this.#wasm.config_buffer(length);
    return this.#view(length);
  }

  #view(length: number): Uint8Array {
    return new Uint8Array(this.#wasm.memory.buffer, this.#address, length);
  }
}
