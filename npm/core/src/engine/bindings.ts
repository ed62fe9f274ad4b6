import type * as Exports from "../../generated/engine_bg.wasm.js";
import { decode } from "./decode.js";

/** The position of a list in the wasm memory: its address, and its number of items. */
type Slice = readonly [address: number, length: number];

/** A function of the module that writes the position of its list to the address `result`. */
type SliceFunction<Parameters extends readonly number[]> = (
  result: number,
  ...parameters: Parameters
) => void;

/**
 * An instance of the wasm module, and the transfer of lists across its boundary.
 *
 * It replaces the glue code of wasm-bindgen, most of which handles JavaScript objects, which do not occur here. The
 * functions of the module are documented in sdk-wasm, in `engine.rs` and `machine.rs`.
 */
export class WasmExports {
  readonly wasm: typeof Exports;
  /** The address at which functions write the position of a list. */
  readonly #result: number;

  constructor(exports: object) {
    this.wasm = exports as typeof Exports;
    this.#result = this.wasm.__wbindgen_malloc(8, 4);
  }

  /** Returns the bytes that a function produces. */
  bytes<P extends readonly number[]>(call: SliceFunction<P>, ...parameters: P): Uint8Array {
    return this.#take(1, (bytes) => bytes.slice(), call, parameters) ?? new Uint8Array();
  }

  /** Returns the 32-bit integers that a function produces. */
  integers<P extends readonly number[]>(call: SliceFunction<P>, ...parameters: P): Uint32Array {
    const bytes = this.#take(4, (bytes) => bytes.slice(), call, parameters);
    return new Uint32Array(bytes?.buffer ?? []);
  }

  /** Returns the text that a function produces, if any. */
  text<P extends readonly number[]>(call: SliceFunction<P>, ...parameters: P): string | undefined {
    return this.#take(1, decode, call, parameters);
  }

  /** Copies a text into the wasm memory, for one call, which takes ownership of it. */
  copyText(text: string | undefined): Slice {
    return text === undefined ? [0, 0] : this.#copy(new TextEncoder().encode(text), 1);
  }

  /** Copies numbers into the wasm memory, for one call, which takes ownership of them. */
  copyNumbers(numbers: readonly number[]): Slice {
    const [address] = this.#copy(new Uint8Array(Float64Array.from(numbers).buffer), 8);
    return [address, numbers.length];
  }

  /** Copies 32-bit integers into the wasm memory, for one call, which takes ownership of them. */
  copyIntegers(integers: ArrayLike<number> | undefined): Slice {
    if (integers === undefined) {
      return [0, 0];
    }
    const [address] = this.#copy(new Uint8Array(Uint32Array.from(integers).buffer), 4);
    return [address, integers.length];
  }

  #copy(bytes: Uint8Array, alignment: number): Slice {
    const address = this.wasm.__wbindgen_malloc(bytes.length, alignment);
    new Uint8Array(this.wasm.memory.buffer, address, bytes.length).set(bytes);
    return [address, bytes.length];
  }

  /** Copies and frees the list that a function produces, if any. `size` is the size of an item in bytes. */
  #take<P extends readonly number[], T>(
    size: number,
    read: (bytes: Uint8Array<ArrayBuffer>) => T,
    call: SliceFunction<P>,
    parameters: P,
  ): T | undefined {
    call(this.#result, ...parameters);
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

/** Returns the imports of the module, which are only functions that report a failure. Each of them throws. */
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

/** Returns a Rust `Option` as two parameters. */
export function optional(number: number | undefined): [isSome: number, number: number] {
  return number === undefined ? [0, 0] : [1, number];
}
