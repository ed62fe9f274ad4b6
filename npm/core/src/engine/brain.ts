import type { Evaluation, Explanation } from "../evaluation.js";
import type { Call, Failure } from "../internal/failure.js";
import type { ConfiguredFlags } from "../internal/flags.js";
import type { Decider } from "../internal/reading.js";
import type { Reply } from "../internal/reply.js";
import type { StoredDocument } from "../internal/stored.js";
import type { Logger } from "../logger.js";
import type { InitializeOptions } from "../options.js";
import type { Border } from "./border.js";
import { Evaluator } from "./evaluator.js";
import { instantiate } from "./instance.js";
import { Machine } from "./machine.js";
import { CommandKind, EventKind, FailureKind, OptionBit, RetryKind } from "./protocol.js";

/** What a brain can have done. Nothing here throws. */
export interface Body {
  fetch(request: number, etag: string | undefined): void;
  abort(): void;
  setTimer(delay: number): void;
  clearTimer(): void;
  /** Serves what the caller's cache has, and gives the milliseconds left for each flag. */
  restore(): readonly number[];
  /** Gives the config document of the caller's store, if it has one that may be served. */
  stored(): StoredDocument | undefined;
  /** Serves the flags of that document; undefined, and it was none. */
  serveStored(flags: ConfiguredFlags | undefined): void;
  /** The service has brought this config document. */
  confirmed(config: Uint8Array | undefined): void;
  apply(flags: ConfiguredFlags): void;
  renew(): void;
  expire(positions: Iterable<number>): void;
  clear(): void;
  listen(): void;
  unlisten(): void;
  report(): void;
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
  readonly staleIfError: boolean;
  readonly streaming: boolean;
  readonly reportUsage: boolean;
  readonly logger: Logger;
}

/** A new brain for this body, which has one object for each evaluation. */
export async function awaken(
  settings: BrainSettings,
  body: Body,
  evaluations: readonly Evaluation[],
): Promise<Brain> {
  return new Brain(await instantiate(settings.logger), settings, body, evaluations);
}

/** The wasm side of a client: reports events to the machine, and has its commands carried out. */
export class Brain implements Decider {
  readonly #machine: Machine;
  readonly #evaluator: Evaluator;
  readonly #body: Body;
  #dead = false;

  constructor(
    border: Border,
    settings: BrainSettings,
    body: Body,
    evaluations: readonly Evaluation[],
  ) {
    this.#machine = new Machine(
      border,
      settings.pollIntervalMs,
      settings.ttlMs,
      settings.retries,
      settings.retryDelayMs,
      settings.timeoutMs,
      Number(settings.staleIfError) * OptionBit.StaleIfError +
        Number(settings.streaming) * OptionBit.Streaming +
        Number(settings.reportUsage) * OptionBit.ReportUsage,
    );
    this.#evaluator = new Evaluator(border, evaluations);
    this.#body = body;
  }

  initialize({ timeoutMs, retry }: InitializeOptions): void {
    this.#report(() => this.#machine.initialize(timeoutMs, retryKind(retry)));
  }

  /** Begins from this configuration, without a request; false, and nothing has begun, if it is none. */
  provide(configuration: string, etag: string | undefined): boolean {
    let good = false;
    this.#report(() => {
      good = this.#evaluator.load(configuration);
      if (good) {
        this.#machine.provided(etag, this.#evaluator.engine);
      }
    });
    return good;
  }

  /** Goes on where a brain that trapped has left off, which had this configuration; false if it is none after all. */
  resume(configuration: Uint8Array, refreshing: boolean): boolean {
    let good = false;
    this.#report(() => {
      good = this.#evaluator.load(configuration);
      if (good) {
        this.#machine.resumed(refreshing, this.#evaluator.engine);
      }
    });
    return good;
  }

  refresh(): void {
    this.#report(() => this.#machine.happened(EventKind.Refresh));
  }

  timer(): void {
    this.#report(() => this.#machine.happened(EventKind.Timer));
  }

  unreachable(request: number): void {
    this.#report(() => this.#machine.happened(EventKind.Unreachable, request));
  }

  reply(request: number, { status, etag, retryAfterMs, body }: Reply): void {
    this.#report(() => {
      const { engine, input } = this.#evaluator;
      const length = status === 200 ? input.write(body) : 0;
      if (this.#machine.reply(request, status, etag, retryAfterMs, engine, length)) {
        input.accept();
        this.#body.confirmed(input.good());
      }
    });
  }

  streamTold(etag: string, spreadMs: number | undefined): void {
    this.#report(() => this.#machine.streamTold(etag, spreadMs));
  }

  streamAlive(): void {
    this.#report(() => this.#machine.happened(EventKind.StreamAlive));
  }

  streamEnded(status: number, retryAfterMs: number | undefined): void {
    this.#report(() => this.#machine.streamEnded(status, retryAfterMs));
  }

  shutdown(): void {
    this.#report(() => this.#machine.happened(EventKind.Shutdown));
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

  /** How that comes about. */
  explain(flag: number, context: unknown): Explanation | undefined {
    try {
      return this.#evaluator.explain(flag, context);
    } catch (error) {
      this.#die(error);
      return undefined;
    }
  }

  /** The text of the configuration, even of a brain that is dead; undefined if there is none. */
  configuration(): Uint8Array | undefined {
    return this.#evaluator.input.good();
  }

  /** The tag of the configuration. */
  tag(): string | undefined {
    return this.#machine.etag();
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
    const machine = this.#machine;
    const body = this.#body;
    while (!this.#dead) {
      const command = machine.take();
      switch (command) {
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
          if (!this.#restoreDocument()) {
            const left = body.restore();
            this.#report(() => machine.restored(left));
          }
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
        case CommandKind.Listen:
          body.listen();
          break;
        case CommandKind.Unlisten:
          body.unlisten();
          break;
        case CommandKind.Report:
          body.report();
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
        default:
          unknown(command);
      }
    }
  }

  /** Begins from the caller's store; false, and nothing has begun, if it has nothing that may be served. */
  #restoreDocument(): boolean {
    const stored = this.#body.stored();
    if (stored === undefined) {
      return false;
    }
    const { config, ageMs, maxAgeMs } = stored;
    let good = false;
    this.#report(() => {
      good = this.#evaluator.load(config);
      this.#body.serveStored(good ? this.#evaluator.flags() : undefined);
      if (good) {
        this.#machine.stored(ageMs, maxAgeMs, this.#evaluator.engine);
      }
    });
    return good;
  }

  #failure(): Failure | undefined {
    const failure = this.#machine.failure();
    switch (failure) {
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
      case FailureKind.Trapped:
        return { kind: "no-engine" };
      case FailureKind.NotInitialized:
        return { kind: "not-initialized" };
      case FailureKind.ShutDown:
        return { kind: "shut-down" };
      default:
        return unknown(failure);
    }
  }
}

/** Fails where engine and client are not of one build: that is an event `engine:error`. */
function unknown(number: never): never {
  throw new Error(`The engine answered with ${number}, which is not part of its protocol`);
}

function retryKind(retry: InitializeOptions["retry"]): RetryKind {
  switch (retry) {
    case undefined:
      return RetryKind.None;
    case "background":
      return RetryKind.Background;
    case "forever":
      return RetryKind.Forever;
  }
}
