import type { Evaluation, Explanation } from "../evaluation.js";
import type { Call, Failure } from "../internal/calls.js";
import type { StoredDocument } from "../internal/document-store.js";
import type { Decider } from "../internal/evaluations.js";
import type { Reply } from "../internal/exchange.js";
import type { ConfiguredFlags } from "../internal/flags.js";
import type { Logger } from "../logger.js";
import type { InitializeOptions } from "../options.js";
import { Machine, type WasmExports } from "./bindings.js";
import { Evaluator } from "./evaluator.js";
import { instantiate } from "./instance.js";
import { CommandKind, EventKind, FailureKind, OptionBit, RetryKind } from "./protocol.js";

/** The part of a client that a core gives commands to. Nothing in it throws. */
export interface Host {
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
  /** The wasm has trapped: this core does nothing any longer. */
  trapped(error: unknown): void;
}

/** The settings of a core, in milliseconds and attempts. */
export interface ClientCoreSettings {
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

/** Loads a core for this host. `evaluations` has one object for each number by which the engine answers. */
export async function load(
  settings: ClientCoreSettings,
  host: Host,
  evaluations: readonly Evaluation[],
): Promise<ClientCore> {
  return new ClientCore(await instantiate(settings.logger), settings, host, evaluations);
}

/** The wasm side of a client: reports events to the machine, and has its commands carried out. */
export class ClientCore implements Decider {
  readonly #machine: Machine;
  readonly #evaluator: Evaluator;
  readonly #host: Host;
  #hasFailed = false;

  constructor(
    exports: WasmExports,
    settings: ClientCoreSettings,
    host: Host,
    evaluations: readonly Evaluation[],
  ) {
    this.#machine = new Machine(
      exports,
      settings.pollIntervalMs,
      settings.ttlMs,
      settings.retries,
      settings.retryDelayMs,
      settings.timeoutMs,
      Number(settings.staleIfError) * OptionBit.StaleIfError +
        Number(settings.streaming) * OptionBit.Streaming +
        Number(settings.reportUsage) * OptionBit.ReportUsage,
    );
    this.#evaluator = new Evaluator(exports, evaluations);
    this.#host = host;
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

  /** Goes on where a core that trapped has left off, which had this configuration; false if it is none after all. */
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
        this.#host.confirmed(input.good());
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
      this.#fail(error);
      return undefined;
    }
  }

  /** How that comes about. */
  explain(flag: number, context: unknown): Explanation | undefined {
    try {
      return this.#evaluator.explain(flag, context);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** The text of the configuration, even after a trap; undefined if there is none. */
  configuration(): Uint8Array | undefined {
    return this.#evaluator.input.good();
  }

  /** The tag of the configuration. */
  tag(): string | undefined {
    return this.#machine.etag();
  }

  #report(event: () => void): void {
    if (this.#hasFailed) {
      return;
    }
    try {
      this.#machine.at(performance.now(), Math.random() * 2 ** 32);
      event();
      this.#runCommands();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Stops this core for good: an instance that has trapped is not to be trusted again. */
  #fail(error: unknown): void {
    if (!this.#hasFailed) {
      this.#hasFailed = true;
      this.#host.trapped(error);
    }
  }

  /** Runs command after command. One may lead to the next event, whose commands then follow the ones before. */
  #runCommands(): void {
    const machine = this.#machine;
    const host = this.#host;
    while (!this.#hasFailed) {
      const command = machine.take();
      switch (command) {
        case CommandKind.None:
          return;
        case CommandKind.Fetch:
          host.fetch(machine.number(), machine.etag());
          break;
        case CommandKind.Abort:
          host.abort();
          break;
        case CommandKind.SetTimer:
          host.setTimer(machine.number());
          break;
        case CommandKind.ClearTimer:
          host.clearTimer();
          break;
        case CommandKind.Restore: {
          if (!this.#restoreDocument()) {
            const left = host.restore();
            this.#report(() => machine.restored(left));
          }
          break;
        }
        case CommandKind.Apply:
          host.apply(this.#evaluator.flags());
          break;
        case CommandKind.Renew:
          host.renew();
          break;
        case CommandKind.Expire:
          host.expire(machine.flags());
          break;
        case CommandKind.Clear:
          host.clear();
          break;
        case CommandKind.Listen:
          host.listen();
          break;
        case CommandKind.Unlisten:
          host.unlisten();
          break;
        case CommandKind.Report:
          host.report();
          break;
        case CommandKind.EmitReady:
          host.emit("ready");
          break;
        case CommandKind.EmitRefreshStart:
          host.emit("refresh:start");
          break;
        case CommandKind.EmitRefreshSuccess:
          host.emit("refresh:success");
          break;
        case CommandKind.EmitRefreshError:
          host.emitFailure(this.#failure() ?? { kind: "unreachable" });
          break;
        case CommandKind.EmitShutdown:
          host.emit("shutdown");
          break;
        case CommandKind.SettleInitialize:
          host.settle("initialize", this.#failure());
          break;
        case CommandKind.SettleRefresh:
          host.settle("refresh", this.#failure());
          break;
        default:
          unknown(command);
      }
    }
  }

  /** Begins from the caller's store; false, and nothing has begun, if it has nothing that may be served. */
  #restoreDocument(): boolean {
    const stored = this.#host.stored();
    if (stored === undefined) {
      return false;
    }
    const { config, ageMs, maxAgeMs } = stored;
    let good = false;
    this.#report(() => {
      good = this.#evaluator.load(config);
      this.#host.serveStored(good ? this.#evaluator.flags() : undefined);
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
