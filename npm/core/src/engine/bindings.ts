import type * as Exports from "../../generated/engine_bg.wasm.js";
import type { CommandKind, EventKind, FailureKind, RetryKind } from "./protocol.js";

/** Where a list lies in the wasm's memory, and how many items it has. */
type Place = readonly [address: number, length: number];

/** A call that writes where its list lies to this address. */
type Call = (result: number) => void;

/**
 * One instance of the wasm module, and how lists cross its boundary.
 *
 * It stands in place of the glue that wasm-bindgen writes, most of which is for what does not cross here: objects of
 * JavaScript, and objects of Rust that are given back. All of an instance ends together.
 */
export class WasmExports {
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

/** `Engine` of sdk-wasm, where each method is documented. */
export class Engine {
  readonly #exports: WasmExports;
  /** The address of the one in the wasm's memory. */
  readonly self: number;

  constructor(exports: WasmExports) {
    this.#exports = exports;
    this.self = exports.wasm.engine_new();
  }

  get memory(): WebAssembly.Memory {
    return this.#exports.wasm.memory;
  }

  input(length: number): number {
    return this.#exports.wasm.engine_input(this.self, length);
  }

  load(length: number): boolean {
    return this.#exports.wasm.engine_load(this.self, length) !== 0;
  }

  keys(): Uint8Array {
    return this.#exports.bytes((result) => this.#exports.wasm.engine_keys(result, this.self));
  }

  ends(): Uint32Array {
    return this.#exports.words((result) => this.#exports.wasm.engine_ends(result, this.self));
  }

  changes(): string | undefined {
    return this.#exports.text((result) => this.#exports.wasm.engine_changes(result, this.self));
  }

  defaults(): Uint8Array {
    return this.#exports.bytes((result) => this.#exports.wasm.engine_defaults(result, this.self));
  }

  ttls(): Uint32Array {
    return this.#exports.words((result) => this.#exports.wasm.engine_ttls(result, this.self));
  }

  attribute(flag: number, slot: number): string | undefined {
    return this.#exports.text((result) =>
      this.#exports.wasm.engine_attribute(result, this.self, flag, slot),
    );
  }

  unsupported(flag: number): number {
    return this.#exports.wasm.engine_unsupported(this.self, flag);
  }

  skipped(): number {
    return this.#exports.wasm.engine_skipped(this.self);
  }

  reserve(slots: number): void {
    this.#exports.wasm.engine_reserve(this.self, slots);
  }

  heads(): number {
    return this.#exports.wasm.engine_heads(this.self);
  }

  numbers(): number {
    return this.#exports.wasm.engine_numbers(this.self);
  }

  text(): number {
    return this.#exports.wasm.engine_text(this.self);
  }

  evaluate(flag: number): number {
    return this.#exports.wasm.engine_evaluate(this.self, flag);
  }

  explain(flag: number): string | undefined {
    return this.#exports.text((result) =>
      this.#exports.wasm.engine_explain(result, this.self, flag),
    );
  }
}

/** `Machine` of sdk-wasm, where each method is documented. */
export class Machine {
  readonly #exports: WasmExports;
  readonly #self: number;

  constructor(
    exports: WasmExports,
    ...[pollInterval, ttl, retries, retryDelay, timeout, switches]: Parameters<
      WasmExports["wasm"]["machine_new"]
    >
  ) {
    this.#exports = exports;
    this.#self = exports.wasm.machine_new(
      pollInterval,
      ttl,
      retries,
      retryDelay,
      timeout,
      switches,
    );
  }

  at(now: number, random: number): void {
    this.#exports.wasm.machine_at(this.#self, now, random);
  }

  happened(event: EventKind, request = 0): void {
    this.#exports.wasm.machine_happened(this.#self, event, request);
  }

  initialize(timeout: number | undefined, retry: RetryKind): void {
    this.#exports.wasm.machine_initialize(this.#self, ...optional(timeout), retry);
  }

  provided(etag: string | undefined, engine: Engine): void {
    this.#exports.wasm.machine_provided(this.#self, ...this.#exports.give(etag), engine.self);
  }

  resumed(refreshing: boolean, engine: Engine): void {
    this.#exports.wasm.machine_resumed(this.#self, Number(refreshing), engine.self);
  }

  reply(
    request: number,
    status: number,
    etag: string | undefined,
    retryAfter: number | undefined,
    engine: Engine,
    length: number,
  ): boolean {
    const configured = this.#exports.wasm.machine_reply(
      this.#self,
      request,
      status,
      ...this.#exports.give(etag),
      ...optional(retryAfter),
      engine.self,
      length,
    );
    return configured !== 0;
  }

  restored(times: readonly number[]): void {
    this.#exports.wasm.machine_restored(this.#self, ...this.#exports.giveNumbers(times));
  }

  stored(age: number, maxAge: number, engine: Engine): void {
    this.#exports.wasm.machine_stored(this.#self, age, maxAge, engine.self);
  }

  streamTold(etag: string, spreadMs: number | undefined): void {
    this.#exports.wasm.machine_streamTold(
      this.#self,
      ...this.#exports.give(etag),
      ...optional(spreadMs),
    );
  }

  streamEnded(status: number, retryAfter: number | undefined): void {
    this.#exports.wasm.machine_streamEnded(this.#self, status, ...optional(retryAfter));
  }

  take(): CommandKind {
    return this.#exports.wasm.machine_take(this.#self);
  }

  number(): number {
    return this.#exports.wasm.machine_number(this.#self);
  }

  etag(): string | undefined {
    return this.#exports.text((result) => this.#exports.wasm.machine_etag(result, this.#self));
  }

  flags(): Uint32Array {
    return this.#exports.words((result) => this.#exports.wasm.machine_flags(result, this.#self));
  }

  failure(): FailureKind {
    return this.#exports.wasm.machine_failure(this.#self);
  }
}

function optional(number: number | undefined): [isThere: number, number: number] {
  return number === undefined ? [0, 0] : [1, number];
}
