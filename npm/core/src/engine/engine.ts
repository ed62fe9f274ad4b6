import type { Border } from "./border.js";

/** `Engine` of sdk-wasm, where each method is documented. */
export class Engine {
  readonly #border: Border;
  /** The address of the one in the wasm's memory. */
  readonly self: number;

  constructor(border: Border) {
    this.#border = border;
    this.self = border.wasm.engine_new();
  }

  get memory(): WebAssembly.Memory {
    return this.#border.wasm.memory;
  }

  input(length: number): number {
    return this.#border.wasm.engine_input(this.self, length);
  }

  load(length: number): boolean {
    return this.#border.wasm.engine_load(this.self, length) !== 0;
  }

  keys(): Uint8Array {
    return this.#border.bytes((result) => this.#border.wasm.engine_keys(result, this.self));
  }

  ends(): Uint32Array {
    return this.#border.words((result) => this.#border.wasm.engine_ends(result, this.self));
  }

  changes(): string | undefined {
    return this.#border.text((result) => this.#border.wasm.engine_changes(result, this.self));
  }

  defaults(): Uint8Array {
    return this.#border.bytes((result) => this.#border.wasm.engine_defaults(result, this.self));
  }

  ttls(): Uint32Array {
    return this.#border.words((result) => this.#border.wasm.engine_ttls(result, this.self));
  }

  attribute(flag: number, slot: number): string | undefined {
    return this.#border.text((result) =>
      this.#border.wasm.engine_attribute(result, this.self, flag, slot),
    );
  }

  unsupported(flag: number): number {
    return this.#border.wasm.engine_unsupported(this.self, flag);
  }

  skipped(): number {
    return this.#border.wasm.engine_skipped(this.self);
  }

  reserve(slots: number): void {
    this.#border.wasm.engine_reserve(this.self, slots);
  }

  heads(): number {
    return this.#border.wasm.engine_heads(this.self);
  }

  numbers(): number {
    return this.#border.wasm.engine_numbers(this.self);
  }

  text(): number {
    return this.#border.wasm.engine_text(this.self);
  }

  evaluate(flag: number): number {
    return this.#border.wasm.engine_evaluate(this.self, flag);
  }

  explain(flag: number): string | undefined {
    return this.#border.text((result) => this.#border.wasm.engine_explain(result, this.self, flag));
  }
}
