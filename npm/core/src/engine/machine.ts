import type { Border } from "./border.js";
import type { Engine } from "./engine.js";
import type { CommandKind, EventKind, FailureKind, RetryKind } from "./protocol.js";

/** `Machine` of sdk-wasm, where each method is documented. */
export class Machine {
  readonly #border: Border;
  readonly #self: number;

  constructor(
    border: Border,
    ...[pollInterval, ttl, retries, retryDelay, timeout, switches]: Parameters<
      Border["wasm"]["machine_new"]
    >
  ) {
    this.#border = border;
    this.#self = border.wasm.machine_new(pollInterval, ttl, retries, retryDelay, timeout, switches);
  }

  at(now: number, random: number): void {
    this.#border.wasm.machine_at(this.#self, now, random);
  }

  happened(event: EventKind, request = 0): void {
    this.#border.wasm.machine_happened(this.#self, event, request);
  }

  initialize(timeout: number | undefined, retry: RetryKind): void {
    this.#border.wasm.machine_initialize(this.#self, ...optional(timeout), retry);
  }

  provided(etag: string | undefined, engine: Engine): void {
    this.#border.wasm.machine_provided(this.#self, ...this.#border.give(etag), engine.self);
  }

  resumed(refreshing: boolean, engine: Engine): void {
    this.#border.wasm.machine_resumed(this.#self, Number(refreshing), engine.self);
  }

  reply(
    request: number,
    status: number,
    etag: string | undefined,
    retryAfter: number | undefined,
    engine: Engine,
    length: number,
  ): boolean {
    const configured = this.#border.wasm.machine_reply(
      this.#self,
      request,
      status,
      ...this.#border.give(etag),
      ...optional(retryAfter),
      engine.self,
      length,
    );
    return configured !== 0;
  }

  restored(times: readonly number[]): void {
    this.#border.wasm.machine_restored(this.#self, ...this.#border.giveNumbers(times));
  }

  stored(age: number, maxAge: number, engine: Engine): void {
    this.#border.wasm.machine_stored(this.#self, age, maxAge, engine.self);
  }

  streamTold(etag: string, spreadMs: number | undefined): void {
    this.#border.wasm.machine_streamTold(
      this.#self,
      ...this.#border.give(etag),
      ...optional(spreadMs),
    );
  }

  streamEnded(status: number, retryAfter: number | undefined): void {
    this.#border.wasm.machine_streamEnded(this.#self, status, ...optional(retryAfter));
  }

  take(): CommandKind {
    return this.#border.wasm.machine_take(this.#self);
  }

  number(): number {
    return this.#border.wasm.machine_number(this.#self);
  }

  etag(): string | undefined {
    return this.#border.text((result) => this.#border.wasm.machine_etag(result, this.#self));
  }

  flags(): Uint32Array {
    return this.#border.words((result) => this.#border.wasm.machine_flags(result, this.#self));
  }

  failure(): FailureKind {
    return this.#border.wasm.machine_failure(this.#self);
  }
}

function optional(number: number | undefined): [isThere: number, number: number] {
  return number === undefined ? [0, 0] : [1, number];
}
