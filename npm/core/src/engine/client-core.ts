import type { Evaluation, Explanation } from "../evaluation.js";
import type { Call, Failure } from "../internal/calls.js";
import type { StoredDocument } from "../internal/document-store.js";
import type { Reply } from "../internal/exchange.js";
import type { ConfiguredFlags } from "../internal/flags.js";
import type { Settings } from "../internal/settings.js";
import type { InitializeOptions } from "../options.js";
import { optional, type WasmExports } from "./bindings.js";
import { Evaluator } from "./evaluator.js";
import { instantiate } from "./instance.js";
import { CommandKind, type EventKind, FailureKind, OptionBit, RetryKind } from "./protocol.js";

const RETRIES = { background: RetryKind.Background, forever: RetryKind.Forever };

/** The commands of a core, and the documents of its host. No method throws. */
export interface Host {
  /** Requests the flags. The core gets the response with the number of the request. */
  fetch(request: number, etag: string | undefined): void;
  abort(): void;
  setTimer(delay: number): void;
  clearTimer(): void;
  /** Serves the flags in the caller's cache, and returns the remaining milliseconds of each. */
  restore(): readonly number[];
  /** Returns the config document in the caller's store, or that of the previous client, if it may be served. */
  stored(): StoredDocument | undefined;
  /** Serves the flags of the document in the caller's store. */
  serveStored(flags: ConfiguredFlags): void;
  /** Ignores the document in the caller's store, because it is not a config document. */
  rejectStored(): void;
  /** Saves a config document that the server has returned. */
  save(config: Uint8Array | undefined): void;
  apply(flags: ConfiguredFlags): void;
  renew(): void;
  expire(positions: Iterable<number>): void;
  clear(): void;
  listen(): void;
  unlisten(): void;
  /** Reports usage. */
  report(): void;
  emitRefresh(type: "refresh:start" | "refresh:success"): void;
  emitReady(): void;
  emitShutdown(): void;
  emitFailure(failure: Failure): void;
  /** Settles a call of the application. Without a failure, it has succeeded. */
  settle(call: Call, failure: Failure | undefined): void;
  /** Handles a trap: the core no longer works. */
  onTrap(cause: unknown): void;
}

/** Loads the core for this host. `evaluations` has one object for each number that the engine returns. */
export async function load(
  settings: Settings,
  host: Host,
  evaluations: readonly Evaluation[],
): Promise<ClientCore> {
  return new ClientCore(await instantiate(settings.logger), settings, host, evaluations);
}

/** The wasm side of a client: reports events to the state machine, and runs its commands. */
export class ClientCore {
  readonly #exports: WasmExports;
  readonly #wasm: WasmExports["wasm"];
  readonly #evaluator: Evaluator;
  readonly #host: Host;
  /** In remote mode, the evaluations of the newest response. */
  #remoteFlags: ConfiguredFlags | undefined;
  #hasFailed = false;

  /**
   * The host function of each command. A function may report another event, whose commands are queued behind the
   * others.
   */
  readonly #commands: Readonly<Record<Exclude<CommandKind, CommandKind.None>, () => void>> = {
    [CommandKind.Fetch]: () => this.#host.fetch(this.#number(), this.tag()),
    [CommandKind.Abort]: () => this.#host.abort(),
    [CommandKind.SetTimer]: () => this.#host.setTimer(this.#number()),
    [CommandKind.ClearTimer]: () => this.#host.clearTimer(),
    [CommandKind.Restore]: () => this.#restore(),
    [CommandKind.Apply]: () => this.#apply(),
    [CommandKind.Renew]: () => this.#host.renew(),
    [CommandKind.Expire]: () => this.#host.expire(this.#exports.integers(this.#wasm.expired)),
    [CommandKind.Clear]: () => this.#host.clear(),
    [CommandKind.Listen]: () => this.#host.listen(),
    [CommandKind.Unlisten]: () => this.#host.unlisten(),
    [CommandKind.Report]: () => this.#host.report(),
    [CommandKind.EmitReady]: () => this.#host.emitReady(),
    [CommandKind.EmitRefreshStart]: () => this.#host.emitRefresh("refresh:start"),
    [CommandKind.EmitRefreshSuccess]: () => this.#host.emitRefresh("refresh:success"),
    [CommandKind.EmitRefreshError]: () =>
      this.#host.emitFailure(this.#failure() ?? { kind: FailureKind.Unreachable }),
    [CommandKind.EmitShutdown]: () => this.#host.emitShutdown(),
    [CommandKind.SettleInitialize]: () => this.#host.settle("initialize", this.#failure()),
    [CommandKind.SettleRefresh]: () => this.#host.settle("refresh", this.#failure()),
    [CommandKind.SettleSetContext]: () => this.#host.settle("setContext", this.#failure()),
  };

  constructor(
    exports: WasmExports,
    settings: Settings,
    host: Host,
    evaluations: readonly Evaluation[],
  ) {
    this.#exports = exports;
    this.#wasm = exports.wasm;
    this.#wasm.configure(
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
    const kind = retry === undefined ? RetryKind.None : RETRIES[retry];
    this.#report(() => {
      this.#wasm.initialize(...optional(timeoutMs), kind);
    });
  }

  /**
   * Reports that the host already serves flags, with the remaining milliseconds of each. A ready client refreshes them.
   */
  serve(remainingMs: readonly number[], isReady: boolean): void {
    this.#report(() => {
      this.#wasm.served(...this.#exports.copyNumbers(remainingMs), Number(isReady));
    });
  }

  /** Starts with this config document, without a request. Returns false, and starts nothing, if it is not valid. */
  bootstrap(configuration: string, etag: string | undefined): boolean {
    return this.#loadAndReport(configuration, () => {
      this.#wasm.bootstrap(...this.#exports.copyText(etag));
    });
  }

  /**
   * Continues the work of a core that trapped, with its config document. Returns false if the document is not valid.
   */
  resume(configuration: Uint8Array, refreshing: boolean): boolean {
    return this.#loadAndReport(configuration, () => {
      this.#wasm.resumed(Number(refreshing));
    });
  }

  /** Reports an event that has no data, or only the number of a request. */
  reportEvent(event: EventKind, request = 0): void {
    this.#report(() => this.#wasm.happened(event, request));
  }

  reply(request: number, { status, etag, retryAfterMs, ageMs, body }: Reply): void {
    const { buffer } = this.#evaluator;
    let isNew = 0;
    this.#report(() => {
      const length = status === 200 ? buffer.write(body) : 0;
      isNew = this.#wasm.reply(
        request,
        status,
        ...this.#exports.copyText(etag),
        ...optional(retryAfterMs),
        ageMs,
        length,
      );
    });
    // Not before the host serves the document, because the caller's store may evaluate flags.
    if (isNew && !this.#hasFailed) {
      this.#host.save(buffer.lastValid());
    }
  }

  /** Reports the response to a request for evaluations, and the flags in it, if any. */
  replyEvaluations(
    request: number,
    { status, etag, retryAfterMs }: Reply,
    flags: ConfiguredFlags | undefined,
  ): void {
    this.#report(() => {
      const isUsed = this.#wasm.reply_evaluations(
        request,
        status,
        ...this.#exports.copyText(etag),
        ...optional(retryAfterMs),
        ...this.#exports.copyIntegers(flags?.ttlSeconds()),
      );
      if (isUsed) {
        this.#remoteFlags = flags;
      }
    });
  }

  reportStreamEvent(etag: string, spreadMs: number | undefined): void {
    this.#report(() => {
      const tag = this.#exports.copyText(etag);
      this.#wasm.stream_announced(...tag, ...optional(spreadMs));
    });
  }

  reportStreamEnd(status: number, retryAfterMs: number | undefined): void {
    this.#report(() => {
      this.#wasm.stream_ended(status, ...optional(retryAfterMs));
    });
  }

  /** Evaluates the flag at this position, or returns undefined if no configuration contains it. */
  evaluate(flag: number, context: unknown): Evaluation | undefined {
    try {
      return this.#evaluator.evaluate(flag, context);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Explains the evaluation of the flag at this position, or returns undefined if no configuration contains it. */
  explain(flag: number, context: unknown): Explanation | undefined {
    try {
      return this.#evaluator.explain(flag, context);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Returns the text of the config document, even after a trap; undefined if none is loaded. */
  configuration(): Uint8Array | undefined {
    return this.#evaluator.buffer.lastValid();
  }

  /** Returns the `ETag` of the config document. */
  tag(): string | undefined {
    return this.#exports.text(this.#wasm.etag);
  }

  #report(event: () => void): void {
    if (this.#hasFailed) {
      return;
    }
    try {
      this.#wasm.set_moment(performance.now(), Math.random() * 2 ** 32);
      event();
      this.#runCommands();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Stops this core permanently: after a trap, the state of an instance cannot be trusted. */
  #fail(error: unknown): void {
    if (!this.#hasFailed) {
      this.#hasFailed = true;
      this.#host.onTrap(error);
    }
  }

  #runCommands(): void {
    while (!this.#hasFailed) {
      const command: CommandKind = this.#wasm.take_command();
      if (command === CommandKind.None) {
        return;
      }
      const run = this.#commands[command] ?? unknown(command);
      run();
    }
  }

  #apply(): void {
    const flags = this.#remoteFlags ?? this.#evaluator.flags();
    // Not earlier: after a trap, the next core continues with the document that the host serves.
    this.#evaluator.buffer.accept();
    this.#host.apply(flags);
  }

  /** Starts from the caller's store, or from its cache if the store has no usable document. */
  #restore(): void {
    if (!this.#restoreDocument()) {
      const times = this.#host.restore();
      this.#report(() => {
        this.#wasm.restored(...this.#exports.copyNumbers(times));
      });
    }
  }

  /** Starts from the caller's store. Returns false, and starts nothing, if no stored document may be served. */
  #restoreDocument(): boolean {
    const stored = this.#host.stored();
    if (stored === undefined) {
      return false;
    }
    const isValid = this.#loadAndReport(stored.config, () => {
      this.#host.serveStored(this.#evaluator.flags());
      this.#wasm.stored(stored.ageMs, stored.maxAgeMs);
    });
    if (!isValid) {
      this.#host.rejectStored();
    }
    return isValid;
  }

  /** Loads a config document and reports it with `event`. Returns false, and reports nothing, if it is not valid. */
  #loadAndReport(configuration: string | Uint8Array, event: () => void): boolean {
    let isValid = false;
    this.#report(() => {
      isValid = this.#evaluator.load(configuration);
      if (isValid) {
        event();
      }
    });
    return isValid;
  }

  /** Returns the number that belongs to the command. */
  #number(): number {
    return this.#wasm.command_number();
  }

  #failure(): Failure | undefined {
    const kind: FailureKind = this.#wasm.failure();
    if (kind === FailureKind.None) {
      return undefined;
    }
    // `ShutDown` is the last kind.
    return kind > FailureKind.ShutDown ? unknown(kind) : { kind, status: this.#number() };
  }
}

/** Throws, because the engine and the client come from different builds. The host then emits `engine:error`. */
function unknown(number: number): never {
  throw new Error(
    `The engine returned ${number}, which is not part of its protocol. Install @pennon/core again.`,
  );
}
