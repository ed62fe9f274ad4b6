import type * as Exports from "../../generated/engine_bg.wasm.js";

/** Where a list lies in the wasm's memory, and how many items it has. */
type Place = readonly [address: number, length: number];

/** A call that writes where its list lies to this address. */
type Call = (result: number) => void;

/**
 * One instance of the wasm module, and how lists cross its border.
 *
 * It stands in place of the glue that wasm-bindgen writes, most of which is for what does not cross here: objects of
 * JavaScript, and objects of Rust that are given back. All of an instance ends together.
 */
export class Border {
  readonly wasm: typeof Exports;
  /** The address of room for a place. */
  readonly #result: number;

  constructor(exports: object) {
    this.wasm = exports as typeof Exports;
    this.#result = this.wasm.__wbindgen_malloc(8, 4);
  }

  /** Takes the bytes out that a call gives. */
  bytes(call: Call): Uint8Array {
    const [address, length] = this.#placeAfter(call);
    const bytes = new Uint8Array(this.wasm.memory.buffer, address, length).slice();
    this.wasm.__wbindgen_free(address, length, 1);
    return bytes;
  }

  /** Takes the integers of 32 bits out that a call gives. */
  words(call: Call): Uint32Array {
    const [address, length] = this.#placeAfter(call);
    const words = new Uint32Array(this.wasm.memory.buffer, address, length).slice();
    this.wasm.__wbindgen_free(address, length * 4, 4);
    return words;
  }

  /** Takes the text out that a call gives, if it gives one. */
  text(call: Call): string | undefined {
    const [address, length] = this.#placeAfter(call);
    if (address === 0) {
      return undefined;
    }
    const bytes = new Uint8Array(this.wasm.memory.buffer, address, length);
    const text = new TextDecoder().decode(bytes);
    this.wasm.__wbindgen_free(address, length, 1);
    return text;
  }

  /** Puts a text in, for one call that takes it. */
  give(text: string | undefined): Place {
    return text === undefined ? [0, 0] : this.#give(new TextEncoder().encode(text), 1);
  }

  /** Puts numbers in, for one call that takes them. */
  giveNumbers(numbers: readonly number[]): Place {
    const [address] = this.#give(new Uint8Array(Float64Array.from(numbers).buffer), 8);
    return [address, numbers.length];
  }

  #give(bytes: Uint8Array, alignment: number): Place {
    const address = this.wasm.__wbindgen_malloc(bytes.length, alignment);
    new Uint8Array(this.wasm.memory.buffer, address, bytes.length).set(bytes);
    return [address, bytes.length];
  }

  #placeAfter(call: Call): Place {
    call(this.#result);
    const [address = 0, length = 0] = new Uint32Array(this.wasm.memory.buffer, this.#result, 2);
    return [address, length];
  }
}

/** The module calls out for nothing but to say that it has failed. */
export function importsOf(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: Record<string, Record<string, () => never>> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] = {
      ...imports[from],
      [name]: () => {
        throw new Error(`The engine called ${name}`);
      },
    };
  }
  return imports;
}
