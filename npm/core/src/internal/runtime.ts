import type { ClientCore, Host } from "../engine/client-core.js";
import { EventKind, FailureKind } from "../engine/protocol.js";
import { FeatureFlagsError } from "../errors.js";
import type { Evaluation } from "../evaluation.js";
import type { Logger } from "../logger.js";
import type { InitializeOptions } from "../options.js";
import type { Configuration, Snapshot } from "../snapshot.js";
import { type Call, Calls, type Failure, shutDown, toError } from "./calls.js";
import { DocumentStore, type StoredDocument } from "./document-store.js";
import type { Evaluations } from "./evaluations.js";
import { FirstFlags, type FirstFlagsClient } from "./first-flags.js";
import { FlagRequests } from "./flag-requests.js";
import type { FlagStore } from "./flag-store.js";
import { type ConfiguredFlags, EVALUATIONS } from "./flags.js";
import { LazyLoader } from "./lazy-loader.js";
import type { Publisher } from "./publisher.js";
import { remoteFlags } from "./remote-flags.js";
import type { Settings } from "./settings.js";
import { Timer } from "./timer.js";
import { SupportCheck } from "./warnings.js";

/** The minimum time between two traps for an immediate restart of the engine. */
const MIN_TRAP_INTERVAL_MS = 1_000;

/** The delay of the restart after traps in faster succession. */
const RESTART_DELAY_MS = 30_000;

/** The config document of a core that trapped, and true if the next core continues its refresh. */
interface Interrupted {
  readonly configuration: Uint8Array | undefined;
  readonly refreshing: boolean;
}

/** Loads the code of the core. */
type LoadEngine = () => Promise<typeof import("../engine/client-core.js")>;

/**
 * The host of a client: network, timer, memory and listeners. It runs the commands of a core, which is loaded when the
 * client is initialized, and leaves all decisions to the core where possible. A core that trapped decides nothing, so
 * the host replaces it.
 */
export class ClientRuntime implements FirstFlagsClient, Host {
  readonly #settings: Settings;
  readonly #loadEngine: LoadEngine;
  readonly #logger: Logger;
  readonly #publisher: Publisher;
  readonly #evaluations: Evaluations;
  readonly #flags: FlagStore;
  readonly #requests: FlagRequests;
  readonly #firstFlags: FirstFlags;
  readonly #timer = new Timer();
  readonly #calls = new Calls();
  readonly #lazy: LazyLoader;
  readonly #documents: DocumentStore | undefined;
  readonly #supportCheck: SupportCheck;
  #loading: Promise<void> | undefined;
  /** The error of the last attempt to fetch the flags. */
  error: FeatureFlagsError | undefined;
  /** The last error of the transport or the engine. */
  #thrown: unknown;
  /** True between `refresh:start` and its outcome. */
  #refreshing = false;
  /** The keys of flags that differ from the bootstrap, until `ready` has been emitted: `change` never precedes it. */
  #changedAtStart: readonly string[] = [];
  /** The option `retry` of `initialize()`. */
  #retry: InitializeOptions["retry"];
  /** The time at which the pending call of `initialize()` ends, on the clock of `performance.now()`. */
  #deadline: number | undefined;
  #hasWarnedOfRetries = false;
  #isBootstrapping = false;
  /** The configuration of the bootstrap, until the client has tried to start with it. */
  #bootstrapConfig: string | undefined;
  /** The earliest time for another immediate restart of the engine, on the clock of `performance.now()`. */
  #nextRestartAt = 0;
  /** The work of a core that trapped, until the next core continues it. */
  #interrupted: Interrupted | undefined;
  #ended = false;
  /** True if the flags never change. */
  #isFrozen = false;

  constructor(
    settings: Settings,
    evaluations: Evaluations,
    publisher: Publisher,
    loadEngine: LoadEngine,
  ) {
    this.#settings = settings;
    this.#loadEngine = loadEngine;
    this.#logger = settings.logger;
    this.#supportCheck = new SupportCheck(settings.logger);
    this.#publisher = publisher;
    this.#evaluations = evaluations;
    this.#flags = evaluations.flags;
    // A bootstrap with an age is only for the case that the first request fails.
    this.#bootstrapConfig =
      this.#flags.confirmedAt === undefined ? settings.configuration : undefined;
    this.#requests = new FlagRequests(settings, evaluations);
    this.#firstFlags = new FirstFlags(settings, evaluations, this.#requests, this);
    this.#lazy = new LazyLoader(settings);
    const { snapshot, store } = settings;
    this.#documents = store && new DocumentStore(store, settings);
    if (snapshot !== undefined) {
      evaluations.serveSnapshot(snapshot);
    }
    if (settings.reportUsage) {
      evaluations.countBy(this.#lazy.count);
    }
  }

  /** Makes the client serve the flags of the bootstrap permanently. */
  freeze(): void {
    this.#isFrozen = true;
    this.#evaluations.onEvaluation = this.#evaluations.hook;
    this.#evaluations.isReady = true;
  }

  initialize({ timeoutMs, retry = this.#retry }: InitializeOptions): Promise<void> {
    return this.#call("initialize", () => {
      this.#retry = retry;
      if (timeoutMs !== undefined) {
        this.#deadline = performance.now() + timeoutMs;
        if (this.#core === undefined) {
          // A core uses the timer from its start, and has the rest of the time.
          this.#timer.set(timeoutMs, () => this.#onDeadline());
        }
      }
      const start = () => {
        const networkFree = this.#startsWithRequest ? this.#firstFlags.fetch() : undefined;
        this.#load((core) => {
          // Unless the call ended before the core was loaded.
          if (this.isTrying || this.#evaluations.isReady) {
            this.#startCore(core);
          }
        }, networkFree);
      };
      this.#firstFlags.begin(start, this.#loading === undefined);
    });
  }

  refresh(): Promise<void> {
    return this.#call("refresh", () => {
      this.#firstFlags.startNow();
      if (this.#loading === undefined) {
        this.settle("refresh", {
          kind: this.#evaluations.isReady ? FailureKind.Trapped : FailureKind.NotInitialized,
        });
      } else {
        this.#load((core) => core.reportEvent(EventKind.Refresh));
      }
    });
  }

  /** Requests the evaluations for another context, and resolves when they are served. */
  async setContext(context: unknown): Promise<void> {
    const isOther = this.#evaluations.setRequested(context);
    if (!isOther && this.#servesRequested()) {
      return;
    }
    this.#firstFlags.startNow();
    const isStarting = this.#core === undefined && !this.#firstFlags.areServed;
    // A listener may be the caller. The commands that are running then still belong to the previous context, and must
    // not settle this call.
    await this.#loading?.catch(() => {});
    const core = this.#core;
    if (this.#ended || (core === undefined && this.#evaluations.isReady)) {
      const kind = this.#ended ? FailureKind.ShutDown : FailureKind.Trapped;
      throw toError("setContext", { kind }, this.#thrown);
    }
    // The first request of a core asks for the newest context, and may already have been answered.
    if (core !== undefined && !(isStarting && this.#servesRequested())) {
      await this.#requestContext(core, isOther && !isStarting);
    }
  }

  async shutdown(): Promise<void> {
    this.#firstFlags.cancelStart();
    this.#core?.reportEvent(EventKind.Shutdown);
    if (!this.#ended) {
      // No core is loaded that could run the commands of a shutdown.
      this.#disconnect();
      this.clear();
      this.emitShutdown();
    }
    // A call made in the same tick has not reached the core, so the core cannot settle it.
    this.#settleAll(FailureKind.ShutDown);
    await Promise.all([this.#lazy.end(), this.#documents?.end()]);
  }

  /** Returns the served configuration with its `ETag`; undefined if it is unknown. */
  configuration(): Pick<Snapshot, "config" | "etag"> | undefined {
    const core = this.#core;
    const bytes = core?.configuration();
    if (bytes === undefined) {
      return undefined;
    }
    const config: Configuration = JSON.parse(new TextDecoder().decode(bytes));
    const etag = core?.tag();
    return etag === undefined ? { config } : { config, etag };
  }

  async evaluateRemote(key: string, context: unknown): Promise<Evaluation> {
    if (this.#ended) {
      throw shutDown();
    }
    if (this.#isFrozen) {
      throw new FeatureFlagsError(
        "EVALUATION_FAILED",
        "A client from fromSnapshot() sends no requests. Create one with an SDK key.",
      );
    }
    const evaluation = await this.#lazy.evaluate(key, context);
    this.#evaluations.hook?.(key, evaluation, context);
    return evaluation;
  }

  flush(): Promise<void> {
    return this.#lazy.flush();
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  get isTrying(): boolean {
    return this.#retry !== undefined || this.#calls.isPending("initialize");
  }

  /** Reports the first flags, which are served before the core has any. */
  becomeReady(): void {
    this.emitReady();
    this.settle("initialize", undefined);
    this.#core?.serve(this.#flags.defaultTtls(), true);
  }

  // The commands of the core.

  fetch(request: number, etag: string | undefined): void {
    const core = this.#core;
    const served = this.#firstFlags.takeServed();
    if (served !== undefined) {
      core?.replyEvaluations(request, served.reply, served.flags);
      return;
    }
    const { context, reply } = this.#requests.send(etag);
    reply.then(
      (received) =>
        context === undefined
          ? core?.reply(request, received)
          : core?.replyEvaluations(request, received, remoteFlags(received, context)),
      (error) => {
        this.#thrown = error;
        this.#logger.debug("The transport failed", error);
        core?.reportEvent(EventKind.Unreachable, request);
      },
    );
  }

  abort(): void {
    this.#requests.abort();
  }

  setTimer(delay: number): void {
    this.#timer.set(delay, () => this.#core?.reportEvent(EventKind.Timer));
  }

  clearTimer(): void {
    this.#timer.clear();
  }

  restore(): readonly number[] {
    const remainingMs = this.#flags.restore(
      this.#settings.staleIfError,
      this.#evaluations.requested,
    );
    if (remainingMs.length === 0 && this.#retry && !this.#hasWarnedOfRetries) {
      this.#hasWarnedOfRetries = true;
      this.#logger.warn(
        "The flags could not be fetched, and the client keeps trying. Check that Pennon is running at baseUrl.",
        this.#thrown,
      );
    }
    return remainingMs;
  }

  stored(): StoredDocument | undefined {
    const { configuration: config } = this.#settings;
    const stored = this.#documents?.load();
    return config === undefined
      ? stored
      : (stored ?? { config, ageMs: this.#flags.ageMs(), maxAgeMs: 0 });
  }

  serveStored(flags: ConfiguredFlags): void {
    this.#documents?.warn(
      "is served, because Pennon could not be reached. Flags may be older than their TTL.",
    );
    const changes = this.#flags.serveStored(flags);
    this.#supportCheck.check(flags);
    this.#publishChanges(changes);
  }

  rejectStored(): void {
    this.#documents?.warn(
      "is not a config document, so it is ignored. The next fetch replaces it.",
    );
  }

  save(config: Uint8Array | undefined): void {
    if (config !== undefined) {
      this.#documents?.save(config);
    }
  }

  apply(flags: ConfiguredFlags): void {
    const { context } = this.#flags;
    const changes = this.#flags.replace(flags);
    this.#supportCheck.check(flags);
    this.#publishChanges(changes, context !== flags.context);
  }

  renew(): void {
    this.#flags.renew();
    this.#documents?.renew();
  }

  expire(positions: Iterable<number>): void {
    this.#logger.warn(
      "Flags have expired, because Pennon could not confirm them. Reads return fallbacks until it does.",
    );
    this.#publishChanges(this.#flags.expire(positions));
    if (!this.#evaluations.isReady) {
      // No event reports it.
      this.#publisher.notifySubscribers();
    }
  }

  clear(): void {
    this.#evaluations.clear();
  }

  listen(): void {
    const core = this.#core;
    this.#lazy.listen({
      onEvent: (etag, spreadMs) => {
        this.#requests.announced = etag;
        core?.reportStreamEvent(etag, spreadMs);
      },
      onAlive: () => core?.reportEvent(EventKind.StreamAlive),
      onEnd: (status, retryAfterMs) => core?.reportStreamEnd(status, retryAfterMs),
    });
  }

  unlisten(): void {
    this.#lazy.unlisten();
  }

  report(): void {
    this.#lazy.report();
  }

  emitRefresh(type: "refresh:start" | "refresh:success"): void {
    this.#refreshing = type === "refresh:start";
    if (!this.#refreshing) {
      this.error = undefined;
    }
    this.#publisher.emit({ type });
  }

  emitReady(): void {
    this.#refreshing = false;
    this.error = undefined;
    if (this.#evaluations.isReady) {
      // The client was ready before its core.
      return;
    }
    this.#evaluations.isReady = true;
    if (this.#settings.reportUsage) {
      // Not before, because it loads a file, for which the first flags should not wait.
      this.#lazy.startCounting();
    }
    this.#publisher.emit({ type: "ready" });
    this.#publisher.notifySubscribers();
    // A listener may have shut down the client.
    if (this.#changedAtStart.length > 0 && !this.#ended) {
      this.#publisher.emit({ type: "change", flags: this.#changedAtStart });
    }
    this.#changedAtStart = [];
  }

  emitShutdown(): void {
    this.#refreshing = false;
    this.#ended = true;
    this.error = shutDown();
    this.#publisher.notifySubscribers();
    this.#publisher.emit({ type: "shutdown" });
    this.#publisher.end();
  }

  emitFailure(failure: Failure): void {
    this.#refreshing = false;
    const error = toError("refresh", failure, this.#thrown);
    this.error = error;
    if (failure.kind !== FailureKind.Trapped) {
      // An engine failure has already been logged by `onTrap`.
      this.#logger.error(error.message, error);
    }
    this.#publisher.emit({ type: "refresh:error", error });
  }

  settle(call: Call, failure: Failure | undefined): void {
    const error = failure && toError(call, failure, this.#thrown);
    const isReported = this.#calls.settle(call, error);
    if (call === "initialize") {
      this.#deadline = undefined;
      if (failure && error) {
        this.#onInitializeFailed(failure.kind, error, isReported);
      }
    }
    const isContinuing = this.#evaluations.isReady || this.isTrying;
    const isStreaming = this.#settings.streaming && isContinuing && !this.#ended;
    this.#timer.keepAlive(this.#calls.hasPending || isStreaming);
  }

  /** Publishes a failure of the first request. A failed request of a client that is ready emits an event instead. */
  #onInitializeFailed(kind: FailureKind, error: FeatureFlagsError, isReported: boolean): void {
    if (this.#ended || kind === FailureKind.ShutDown) {
      return;
    }
    if (kind === FailureKind.Trapped) {
      this.#recoverEngine();
    } else if (!isReported) {
      // The client keeps trying.
      this.#logger.error(error.message, error);
    }
    this.error = error;
    this.#publisher.notifySubscribers();
  }

  onTrap(cause: unknown): void {
    const configuration = this.#core?.configuration();
    const error = new FeatureFlagsError(
      "ENGINE_FAILED",
      "The engine failed and restarts. Reads continue from memory. Please report the cause as a bug.",
      { cause },
    );
    this.#logger.error(error.message, error);
    this.#thrown = cause;
    this.#disconnect();
    const now = performance.now();
    const isFirst = now >= this.#nextRestartAt;
    this.#nextRestartAt = now + MIN_TRAP_INTERVAL_MS;
    if (this.#evaluations.isReady) {
      // A listener may load the next core.
      this.#interrupted = { configuration, refreshing: isFirst && this.#refreshing };
    }
    this.#publisher.emit({ type: "engine:error", error });
    if (this.#ended || !this.#evaluations.isReady) {
      this.#failCalls();
    } else if (!isFirst) {
      this.#failCalls();
      this.#timer.set(RESTART_DELAY_MS, () => this.#load());
    } else {
      if (!this.#refreshing) {
        // The call was made in the same tick, so the failed engine has not seen it.
        this.settle("refresh", { kind: FailureKind.Trapped });
      }
      this.#load();
    }
  }

  #call(call: Call, begin: () => void): Promise<void> {
    return this.#calls.wait(call, () => {
      this.#timer.keepAlive(true);
      if (this.#ended) {
        this.settle(call, { kind: FailureKind.ShutDown });
      } else if (this.#isFrozen) {
        this.settle(call, undefined);
      } else {
        begin();
      }
    });
  }

  /** Returns true if the served evaluations are those for the current context. */
  #servesRequested(): boolean {
    return this.#flags.context?.key === this.#evaluations.requested?.key;
  }

  /** Requests the evaluations for the current context, unless a pending request does so. */
  #requestContext(core: ClientCore, isOther: boolean): Promise<void> {
    const calls = ["setContext", "initialize"] as const;
    const pending = isOther ? undefined : calls.find((call) => this.#calls.isPending(call));
    const settled = this.#calls.wait(pending ?? "setContext", () => this.#timer.keepAlive(true));
    if (pending === undefined) {
      core.reportEvent(EventKind.ContextChanged);
    }
    return settled;
  }

  /** Ends the call of `initialize()` without a core: with the flags of a bootstrap, or else with an error. */
  #onDeadline(): void {
    if (this.#deadline === undefined) {
      return;
    }
    if (this.#flags.defaultTtls().length > 0) {
      this.becomeReady();
      return;
    }
    this.settle("initialize", { kind: FailureKind.TimedOut });
    if (!this.isTrying) {
      this.#firstFlags.cancelStart();
      this.#requests.dropEarly();
    }
  }

  /** Starts with the bootstrap, or else with a request. */
  #startCore(core: ClientCore): void {
    const config = this.#bootstrapConfig;
    if (config) {
      this.#bootstrapConfig = undefined;
      // The flags of a snapshot equal those of its configuration, so nothing has changed.
      this.#isBootstrapping = true;
      const isValid = core.bootstrap(config, this.#settings.snapshot?.etag);
      this.#isBootstrapping = false;
      if (isValid) {
        return;
      }
      this.#logger.error(
        "The bootstrap is not a config document, so it is ignored. Pass the body of GET /sdk/v1/config, or a snapshot.",
      );
    }
    // A client whose first response was served is ready before its core, which has yet to read that response.
    const isReady = this.#evaluations.isReady && !this.#firstFlags.areServed;
    core.serve(this.#flags.defaultTtls(), isReady);
    const timeoutMs = this.#deadline && this.#deadline - performance.now();
    core.initialize({ timeoutMs, retry: this.#retry });
  }

  /** Continues the work of a core that trapped, if any. */
  #continue(core: ClientCore): void {
    const interrupted = this.#interrupted;
    this.#interrupted = undefined;
    if (interrupted === undefined) {
      return;
    }
    const { configuration, refreshing } = interrupted;
    if (configuration === undefined || !core.resume(configuration, refreshing)) {
      this.#flags.changeEngine();
      this.#failCalls();
      this.#startCore(core);
    }
    // Reads that failed in the meantime succeed now.
    this.#publisher.notifySubscribers();
  }

  /** Loads the engine if necessary, but not before `start`, and then calls `act`, if given. */
  #load(act?: (core: ClientCore) => void, start?: Promise<void>): void {
    this.#loading ??= (start?.then(() => this.#loadEngine()) ?? this.#loadEngine())
      .then(({ load }) => load(this.#settings, this, EVALUATIONS))
      .then((core) => {
        if (!this.#ended) {
          this.#evaluations.engine = core;
          this.#continue(core);
        }
      });
    this.#loading.then(
      () => this.#core && act?.(this.#core),
      (error) => {
        this.#thrown = error;
        this.#loading = undefined;
        this.#requests.dropEarly();
        this.#firstFlags.takeServed();
        if (!this.#calls.isPending("initialize")) {
          const unreported = toError("initialize", { kind: FailureKind.Trapped }, error);
          this.#logger.error(unreported.message, unreported);
        }
        this.#failCalls();
      },
    );
  }

  /** Schedules a restart of the engine, which has failed or could not be loaded, if the client must continue. */
  #recoverEngine(): void {
    if (this.#evaluations.isReady || this.#retry !== undefined) {
      this.#timer.set(RESTART_DELAY_MS, () => this.#load((core) => this.#startCore(core)));
    }
  }

  /** Drops the core, and stops its request, stream and timer. */
  #disconnect(): void {
    this.#evaluations.engine = undefined;
    this.#loading = undefined;
    this.abort();
    this.unlisten();
    this.clearTimer();
  }

  /** Fails all pending calls, because the engine does not work. */
  #failCalls(): void {
    if (this.#refreshing) {
      this.emitFailure({ kind: FailureKind.Trapped });
    }
    this.#settleAll(FailureKind.Trapped);
  }

  #settleAll(kind: Failure["kind"]): void {
    for (const call of ["initialize", "refresh", "setContext"] as const) {
      this.settle(call, { kind });
    }
  }

  /** Publishes the keys of the flags that have changed. With a new context, all reads may have changed. */
  #publishChanges(flags: readonly string[], isOtherContext = false): void {
    if (!this.#evaluations.isReady) {
      this.#changedAtStart = this.#isBootstrapping ? [] : flags;
      return;
    }
    if (flags.length > 0) {
      this.#publisher.emit({ type: "change", flags });
    }
    if (flags.length > 0 || isOtherContext) {
      this.#publisher.notifySubscribers();
    }
  }

  /** The core, while it is loaded. */
  get #core(): ClientCore | undefined {
    return this.#evaluations.engine;
  }

  /** True if the next core starts with a request, because it has no config document. */
  get #startsWithRequest(): boolean {
    return !this.#loading && !this.#interrupted && !this.#bootstrapConfig;
  }
}
