import type * as Exports from "../../generated/engine_bg.wasm.js";

/** Where a list lies in the wasm's memory, and how many items it has. */
type Place = readonly [address: number, length: number];

/** A function that writes where its list lies to the address `result`. */
type Listing<Parameters extends readonly number[]> = (
  result: number,
  ...parameters: Parameters
) => void;

/**
 * One instance of the wasm module, and how lists cross its boundary.
 *
 * It stands in place of the glue that wasm-bindgen writes, most of which is for what does not cross here: objects of
 * JavaScript, and objects of Rust that are given back. All of an instance ends together. The functions of the module are the
 * methods of `Engine` and `Machine` in sdk-wasm, where each is documented; they take the address of their object first.
 */
export class WasmExports {
  readonly wasm: typeof Exports;
  /** The address of room for a place. */
  readonly #result: number;

  constructor(exports: object) {
    this.wasm = exports as typeof Exports;
    this.#result = this.wasm.__wbindgen_malloc(8, 4);
  }

  /** Takes out the bytes that a function gives. */
  bytes<P extends readonly number[]>(listing: Listing<P>, ...parameters: P): Uint8Array {
    return this.#take(1, (bytes) => bytes.slice(), listing, parameters) ?? new Uint8Array();
  }

  /** Takes out the integers of 32 bits that a function gives. */
  words<P extends readonly number[]>(listing: Listing<P>, ...parameters: P): Uint32Array {
    const bytes = this.#take(4, (bytes) => bytes.slice(), listing, parameters);
    return new Uint32Array(bytes?.buffer ?? []);
  }

  /** Takes out the text that a function gives, if it gives one. */
  text<P extends readonly number[]>(listing: Listing<P>, ...parameters: P): string | undefined {
    return this.#take(1, (bytes) => new TextDecoder().decode(bytes), listing, parameters);
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

  /** Takes out the list that a function gives, if it gives one. Its items have this size. */
  #take<P extends readonly number[], T>(
    size: number,
    read: (bytes: Uint8Array<ArrayBuffer>) => T,
    listing: Listing<P>,
    parameters: P,
  ): T | undefined {
    listing(this.#result, ...parameters);
    const { buffer } = this.wasm.memory;
    const [address = 0, length = 0] = new Uint32Array(buffer, this.#result, 2);
    if (address === 0) {
      return undefined;
    }
    const list = read(new Uint8Array(buffer, address, length * size));
    this.wasm.__wbindgen_free(address, length * size, size);
    return list;
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

/** An `Option` of Rust's, as two parameters. */
export function optional(number: number | undefined): [isThere: number, number: number] {
  return number === undefined ? [0, 0] : [1, number];
}
