import type { ClientCore } from "../engine/client-core.js";
import { EventKind, FailureKind } from "../engine/protocol.js";
import { FeatureFlagsError } from "../errors.js";
import type { Evaluation } from "../evaluation.js";
import type { LifecycleEventType } from "../events.js";
import type { Logger } from "../logger.js";
import type { InitializeOptions, Settings } from "../options.js";
import type { Configuration, Snapshot } from "../snapshot.js";
import { type Call, Calls, type Failure, toError } from "./calls.js";
import { DocumentKeeper, type StoredDocument } from "./document-store.js";
import type { Evaluations } from "./evaluations.js";
import { type Reply, requestFor, toReply } from "./exchange.js";
import type { FlagStore } from "./flag-store.js";
import { type ConfiguredFlags, EVALUATIONS } from "./flags.js";
import { LazyLoader } from "./lazy-loader.js";
import type { Publisher } from "./publisher.js";
import { Timer } from "./timer.js";
import { SupportCheck } from "./warnings.js";

/** An engine that trapped is started anew at once, but not if the last one lived no longer than this. */
const SHORTEST_LIFE_MS = 1_000;

/** Then it takes this long. */
const RECOVERY_MS = 30_000;

/**
 * The host of a client: network, timer, memory and listeners. It runs the commands of a core that is loaded when the client
 * is initialised, and decides nothing that the core can decide.
 */
export class ClientRuntime {
  readonly #settings: Settings;
  readonly #logger: Logger;
  readonly #publisher: Publisher;
  readonly #evaluations: Evaluations;
  readonly #flags: FlagStore;
  readonly #timer = new Timer();
  readonly #calls = new Calls();
  readonly #lazy: LazyLoader;
  readonly #keeper: DocumentKeeper | undefined;
  readonly #supportCheck: SupportCheck;
  #loading: Promise<void> | undefined;
  #core: ClientCore | undefined;
  #request: AbortController | undefined;
  /** What the transport, or the engine, threw last. */
  #thrown: unknown;
  /** Between `refresh:start` and its outcome. */
  #refreshing = false;
  /** The keys of flags that differ from the bootstrap, until `ready` has been emitted: `change` never comes before it. */
  #changedAtStart: readonly string[] = [];
  /** The option of `initialize()`. */
  #retry: InitializeOptions["retry"];
  #hasWarnedOfRetries = false;
  #isProviding = false;
  /** What the caller has given to begin with has been tried. */
  #hasBegun = false;
  #trappedAt = Number.NEGATIVE_INFINITY;
  #ended = false;
  /** The flags never change. */
  #isFixed = false;

  constructor(settings: Settings, evaluations: Evaluations, publisher: Publisher) {
    this.#settings = settings;
    this.#logger = settings.logger;
    this.#supportCheck = new SupportCheck(settings.logger);
    this.#publisher = publisher;
    this.#evaluations = evaluations;
    this.#flags = evaluations.flags;
    this.#lazy = new LazyLoader(settings);
    const { snapshot, store } = settings;
    this.#keeper = store && new DocumentKeeper(store, settings);
    if (snapshot !== undefined) {
      this.#flags.provide(snapshot.flags);
      if (snapshot.subject !== undefined) {
        evaluations.prepare(snapshot.subject);
      }
    }
  }

  /** Serves the flags of the bootstrap for good. */
  fix(): void {
    this.#isFixed = true;
    this.#evaluations.isReady = true;
  }

  initialize(options: InitializeOptions): Promise<void> {
    return this.#call("initialize", () => {
      this.#retry = options.retry ?? this.#retry;
      if (this.#settings.reportUsage) {
        this.#lazy.startCounting((count) => this.#evaluations.countBy(count));
      }
      this.#load((core) => this.#begin(core, options));
    });
  }

  refresh(): Promise<void> {
    return this.#call("refresh", () => {
      if (this.#loading === undefined) {
        this.settle("refresh", {
          kind: this.#evaluations.isReady ? FailureKind.Trapped : FailureKind.NotInitialized,
        });
      } else {
        this.#load((core) => core.happened(EventKind.Refresh));
      }
    });
  }

  async shutdown(): Promise<void> {
    this.#core?.happened(EventKind.Shutdown);
    // A call made in this very moment has not reached the core, which could not settle it.
    this.settle("initialize", { kind: FailureKind.ShutDown });
    this.settle("refresh", { kind: FailureKind.ShutDown });
    if (!this.#ended) {
      // There is no core yet, or none any more, that could shut down in order.
      this.#disconnect();
      this.clear();
      this.emit("shutdown");
    }
    await Promise.all([this.#lazy.end(), this.#keeper?.end()]);
  }

  /** The configuration being served, with its tag; undefined if it is not known. */
  configuration(): Pick<Snapshot, "config" | "etag"> | undefined {
    const bytes = this.#core?.configuration();
    if (bytes === undefined) {
      return undefined;
    }
    const config: Configuration = JSON.parse(new TextDecoder().decode(bytes));
    const etag = this.#core?.tag();
    return etag === undefined ? { config } : { config, etag };
  }

  async evaluateRemote(key: string, context: unknown): Promise<Evaluation> {
    if (this.#ended) {
      throw new FeatureFlagsError("NOT_INITIALIZED", "The client has been shut down");
    }
    if (this.#isFixed) {
      throw new FeatureFlagsError("EVALUATION_FAILED", "A client of a snapshot asks no service");
    }
    const evaluation = await this.#lazy.evaluate(key, context);
    this.#evaluations.hook?.(key, evaluation, context);
    return evaluation;
  }

  flush(): Promise<void> {
    return this.#lazy.flush();
  }

  // The commands of the core. None of them throws.

  fetch(request: number, etag: string | undefined): void {
    const core = this.#core;
    this.#request = new AbortController();
    this.#logger.debug("Fetching the configuration", { etag });
    this.#send(etag, this.#request.signal).then(
      (reply) => core?.reply(request, reply),
      (error) => {
        this.#thrown = error;
        this.#logger.debug("The transport failed", error);
        core?.happened(EventKind.Unreachable, request);
      },
    );
  }

  abort(): void {
    this.#request?.abort();
  }

  setTimer(delay: number): void {
    this.#timer.set(delay, () => this.#core?.happened(EventKind.Timer));
  }

  clearTimer(): void {
    this.#timer.clear();
  }

  /** Serves what the caller's cache has, and gives the milliseconds left for each flag. */
  restore(): readonly number[] {
    if (this.#evaluations.isReady) {
      return this.#flags.keep();
    }
    const left = this.#flags.restore(this.#settings.staleIfError);
    if (left.length === 0 && this.#retry && !this.#hasWarnedOfRetries) {
      this.#hasWarnedOfRetries = true;
      this.#logger.warn("The flags could not be fetched; the client goes on trying", this.#thrown);
    }
    return left;
  }

  /** Gives the config document of the caller's store, if it has one that may be served. */
  stored(): StoredDocument | undefined {
    return this.#evaluations.isReady ? undefined : this.#keeper?.load();
  }

  /** Serves the flags of the document in the caller's store. */
  serveStored(flags: ConfiguredFlags): void {
    this.#keeper?.warn(
      "is served, because the service could not be reached: flags may be older than their time to live",
    );
    this.#supportCheck.check(flags);
    this.#changed(this.#flags.serveStored(flags));
  }

  /** What the caller's store has is no config document. */
  refuseStored(): void {
    this.#keeper?.warn("is no config document: it is ignored");
  }

  /** The service has brought this config document. */
  confirmed(config: Uint8Array | undefined): void {
    if (config !== undefined) {
      this.#keeper?.save(config);
    }
  }

  apply(flags: ConfiguredFlags): void {
    this.#supportCheck.check(flags);
    this.#changed(this.#flags.replace(flags));
  }

  renew(): void {
    this.#flags.renew();
    this.#keeper?.renew();
  }

  expire(positions: Iterable<number>): void {
    this.#logger.warn(
      "Flags are not served any longer, because the service could not confirm them",
    );
    this.#changed(this.#flags.expire(positions));
  }

  clear(): void {
    this.#evaluations.clear();
  }

  listen(): void {
    const core = this.#core;
    this.#lazy.listen({
      told: (etag, spreadMs) => core?.streamTold(etag, spreadMs),
      alive: () => core?.happened(EventKind.StreamAlive),
      ended: (status, retryAfterMs) => core?.streamEnded(status, retryAfterMs),
    });
  }

  unlisten(): void {
    this.#lazy.unlisten();
  }

  report(): void {
    this.#lazy.report();
  }

  emit(type: Exclude<LifecycleEventType, "refresh:error" | "engine:error" | "change">): void {
    this.#refreshing = type === "refresh:start";
    if (type === "ready") {
      if (this.#evaluations.isReady) {
        // The engine starts anew after a trap, the client does not.
        return;
      }
      this.#evaluations.isReady = true;
    }
    if (type === "shutdown") {
      this.#ended = true;
      this.#core = undefined;
    }
    this.#publisher.emit({ type });
    if (type === "ready") {
      this.#publisher.changed();
      // A listener may have shut the client down.
      if (this.#changedAtStart.length > 0 && !this.#ended) {
        this.#publisher.emit({ type: "change", flags: this.#changedAtStart });
      }
      this.#changedAtStart = [];
    }
    if (type === "shutdown") {
      this.#publisher.end();
    }
  }

  emitFailure(failure: Failure): void {
    this.#refreshing = false;
    const error = toError("refresh", failure, this.#thrown);
    if (failure.kind !== FailureKind.Trapped) {
      // What the engine did has been logged where it did it.
      this.#logger.error(error.message, error);
    }
    this.#publisher.emit({ type: "refresh:error", error });
  }

  settle(call: Call, failure: Failure | undefined): void {
    if (failure?.kind === FailureKind.Status || failure?.kind === FailureKind.Malformed) {
      this.#logUnheard(call, failure);
    }
    this.#calls.settle(call, failure, this.#thrown);
    this.#timer.hold(this.#calls.areWaiting);
    if (call === "initialize" && failure !== undefined && failure.kind !== FailureKind.ShutDown) {
      this.#recoverEngine(failure);
    }
  }

  /** The wasm has trapped: the core does nothing any longer. */
  trapped(cause: unknown): void {
    const configuration = this.#core?.configuration();
    const error = new FeatureFlagsError(
      "ENGINE_FAILED",
      "The engine failed; reads go on from what is in memory, and it is started anew",
      { cause },
    );
    this.#logger.error(error.message, error);
    this.#thrown = cause;
    this.#disconnect();
    this.#publisher.emit({ type: "engine:error", error });
    const before = this.#trappedAt;
    this.#trappedAt = performance.now();
    if (this.#ended || !this.#evaluations.isReady) {
      this.#fail();
    } else if (this.#trappedAt - before < SHORTEST_LIFE_MS) {
      this.#fail();
      this.#timer.set(RECOVERY_MS, () => this.#restart(configuration, false));
    } else {
      if (!this.#refreshing) {
        // It was asked for in this very moment, and the engine that has failed knows nothing of it.
        this.settle("refresh", { kind: FailureKind.Trapped });
      }
      this.#restart(configuration, this.#refreshing);
    }
  }

  #call(call: Call, begin: () => void): Promise<void> {
    return this.#calls.wait(call, () => {
      this.#timer.hold(true);
      if (this.#ended) {
        this.settle(call, { kind: FailureKind.ShutDown });
      } else if (this.#isFixed) {
        this.settle(call, undefined);
      } else {
        begin();
      }
    });
  }

  /** Begins by what the caller has given, or else by a request. */
  #begin(core: ClientCore, options: InitializeOptions): void {
    const { configuration, snapshot } = this.#settings;
    if (configuration !== undefined && !this.#hasBegun) {
      this.#hasBegun = true;
      // The flags of a snapshot and its configuration are the same: that is no change.
      this.#isProviding = true;
      const isProvided = core.provide(configuration, snapshot?.etag);
      this.#isProviding = false;
      if (isProvided) {
        return;
      }
      this.#logger.error("The bootstrap is no configuration, and is left aside");
    }
    core.initialize(options);
  }

  /** Goes on with a new core. */
  #restart(configuration: Uint8Array | undefined, refreshing: boolean): void {
    this.#load((core) => {
      if (configuration === undefined || !core.resume(configuration, refreshing)) {
        this.#fail();
        core.initialize({});
      }
      // Whoever got no answer meanwhile gets one now.
      this.#publisher.changed();
    });
  }

  /** Loads the engine, if it is not there, and then has it do something. */
  #load(act: (core: ClientCore) => void): void {
    this.#loading ??= import("../engine/client-core.js")
      .then(({ load }) => load(this.#settings, this, EVALUATIONS))
      .then((core) => {
        this.#core = this.#ended ? undefined : core;
        this.#evaluations.decider = this.#core;
      });
    this.#loading.then(
      () => this.#core && act(this.#core),
      (error) => {
        this.#thrown = error;
        this.#loading = undefined;
        this.#fail();
      },
    );
  }

  /** Starts an engine later if the client is to go on and none of its engines does. */
  #recoverEngine(failure: Failure): void {
    const retry = this.#retry;
    if (this.#evaluations.isReady) {
      this.#timer.set(RECOVERY_MS, () => this.#restart(undefined, false));
    } else if (retry !== undefined && failure.kind === FailureKind.Trapped) {
      this.#timer.set(RECOVERY_MS, () => this.#load((core) => this.#begin(core, { retry })));
    }
  }

  /** Logs a failure that no call of `initialize()` reports: the client goes on trying by itself. */
  #logUnheard(call: Call, failure: Failure): void {
    if (call === "initialize" && !this.#calls.isWaiting(call)) {
      const error = toError(call, failure, this.#thrown);
      this.#logger.error(error.message, error);
    }
  }

  /** Lets go of a core that trapped, and of all that goes on for it. */
  #disconnect(): void {
    this.#core = undefined;
    this.#evaluations.decider = undefined;
    this.#loading = undefined;
    this.abort();
    this.unlisten();
    this.clearTimer();
  }

  /** Nothing that waits for the engine will come of it. */
  #fail(): void {
    if (this.#refreshing) {
      this.emitFailure({ kind: FailureKind.Trapped });
    }
    this.settle("initialize", { kind: FailureKind.Trapped });
    this.settle("refresh", { kind: FailureKind.Trapped });
  }

  #changed(flags: readonly string[]): void {
    if (!this.#evaluations.isReady) {
      this.#changedAtStart = this.#isProviding ? [] : flags;
    } else if (flags.length > 0) {
      this.#publisher.emit({ type: "change", flags });
      this.#publisher.changed();
    }
  }

  async #send(etag: string | undefined, signal: AbortSignal): Promise<Reply> {
    const headers = etag === undefined ? {} : { "If-None-Match": etag };
    const request = requestFor(this.#settings, "config", headers, signal);
    return toReply(await this.#settings.transport.send(request));
  }
}
