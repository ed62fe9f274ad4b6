import type { Evaluation } from "../evaluation.js";
import type { Call, Failure } from "../internal/failure.js";
import type { Reply } from "../internal/reply.js";
import type { Flags } from "../internal/values.js";
import { Evaluator } from "./evaluator.js";
import { type Instance, instantiate, type Machine } from "./instance.js";

/** What a brain can have done. Nothing here throws. */
export interface Body {
  fetch(request: number, etag: string | undefined): void;
  abort(): void;
  setTimer(delay: number): void;
  clearTimer(): void;
  /** Serves what the caller's cache has, and gives the milliseconds left for each flag. */
  restore(): readonly number[];
  apply(flags: Flags): void;
  renew(): void;
  expire(positions: Iterable<number>): void;
  clear(): void;
  emit(type: "ready" | "refresh:start" | "refresh:success" | "shutdown"): void;
  emitFailure(failure: Failure): void;
  settle(call: Call, failure: Failure | undefined): void;
  /** The wasm has trapped: this brain is dead. */
  trapped(error: unknown): void;
}

/** What a brain needs to know, in milliseconds and attempts. */
export interface BrainSettings {
  readonly pollIntervalMs: number;
  readonly ttlMs: number;
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly timeoutMs: number;
}

/** A new brain for this body. */
export async function awaken(settings: BrainSettings, body: Body): Promise<Brain> {
  return new Brain(await instantiate(), settings, body);
}

/** The wasm side of a client: reports events to the machine, and has its commands carried out. */
export class Brain {
  readonly #instance: Instance;
  readonly #machine: Machine;
  readonly #evaluator: Evaluator;
  readonly #body: Body;
  #dead = false;

  constructor(instance: Instance, settings: BrainSettings, body: Body) {
    this.#instance = instance;
    this.#machine = new instance.Machine(
      settings.pollIntervalMs,
      settings.ttlMs,
      settings.retries,
      settings.retryDelayMs,
      settings.timeoutMs,
    );
    this.#evaluator = new Evaluator(instance);
    this.#body = body;
  }

  initialize(): void {
    this.#report(() => this.#machine.initialize());
  }

  refresh(): void {
    this.#report(() => this.#machine.refresh());
  }

  timer(): void {
    this.#report(() => this.#machine.timer());
  }

  unreachable(request: number): void {
    this.#report(() => this.#machine.unreachable(request));
  }

  reply(request: number, { status, etag, retryAfterMs, body }: Reply): void {
    this.#report(() => {
      const length = this.#evaluator.fill(body);
      const { engine } = this.#evaluator;
      this.#machine.reply(request, status, etag, retryAfterMs, engine, length);
    });
  }

  shutdown(): void {
    this.#report(() => this.#machine.shutdown());
  }

  /** What the flag at this position is for a subject, or undefined if there is no configuration that has it. */
  evaluate(flag: number, context: unknown): Evaluation | undefined {
    try {
      return this.#evaluator.evaluate(flag, context);
    } catch (error) {
      this.#die(error);
      return undefined;
    }
  }

  #report(event: () => void): void {
    if (this.#dead) {
      return;
    }
    try {
      this.#machine.at(performance.now(), Math.random() * 2 ** 32);
      event();
      this.#obey();
    } catch (error) {
      this.#die(error);
    }
  }

  /** What has trapped once is not to be trusted again. */
  #die(error: unknown): void {
    if (!this.#dead) {
      this.#dead = true;
      this.#body.trapped(error);
    }
  }

  /** Carries out command after command. One may lead to the next event, whose commands then follow the ones before. */
  #obey(): void {
    const { CommandKind } = this.#instance;
    const machine = this.#machine;
    const body = this.#body;
    while (!this.#dead) {
      switch (machine.take()) {
        case CommandKind.None:
          return;
        case CommandKind.Fetch:
          body.fetch(machine.number(), machine.etag());
          break;
        case CommandKind.Abort:
          body.abort();
          break;
        case CommandKind.SetTimer:
          body.setTimer(machine.number());
          break;
        case CommandKind.ClearTimer:
          body.clearTimer();
          break;
        case CommandKind.Restore: {
          const left = body.restore();
          this.#report(() => machine.restored(Float64Array.from(left)));
          break;
        }
        case CommandKind.Apply:
          body.apply(this.#evaluator.flags());
          break;
        case CommandKind.Renew:
          body.renew();
          break;
        case CommandKind.Expire:
          body.expire(machine.flags());
          break;
        case CommandKind.Clear:
          body.clear();
          break;
        case CommandKind.EmitReady:
          body.emit("ready");
          break;
        case CommandKind.EmitRefreshStart:
          body.emit("refresh:start");
          break;
        case CommandKind.EmitRefreshSuccess:
          body.emit("refresh:success");
          break;
        case CommandKind.EmitRefreshError:
          body.emitFailure(this.#failure() ?? { kind: "unreachable" });
          break;
        case CommandKind.EmitShutdown:
          body.emit("shutdown");
          break;
        case CommandKind.SettleInitialize:
          body.settle("initialize", this.#failure());
          break;
        case CommandKind.SettleRefresh:
          body.settle("refresh", this.#failure());
          break;
      }
    }
  }

  #failure(): Failure | undefined {
    const { FailureKind } = this.#instance;
    switch (this.#machine.failure()) {
      case FailureKind.None:
        return undefined;
      case FailureKind.Unreachable:
        return { kind: "unreachable" };
      case FailureKind.TimedOut:
        return { kind: "timed-out" };
      case FailureKind.Status:
        return { kind: "status", status: this.#machine.number() };
      case FailureKind.Malformed:
        return { kind: "malformed" };
      case FailureKind.NotInitialized:
        return { kind: "not-initialized" };
      case FailureKind.ShutDown:
        return { kind: "shut-down" };
    }
  }
}
