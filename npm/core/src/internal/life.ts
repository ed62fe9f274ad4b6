import type { Body, Brain } from "../engine/brain.js";
import { FeatureFlagsError } from "../errors.js";
import type { Evaluation } from "../evaluation.js";
import type { LifecycleEventType } from "../events.js";
import type { Logger } from "../logger.js";
import type { InitializeOptions, Settings } from "../options.js";
import type { Configuration, Snapshot } from "../snapshot.js";
import { Calls } from "./calls.js";
import { EVALUATIONS } from "./evaluations.js";
import { type Call, type Failure, toError } from "./failure.js";
import type { ConfiguredFlags } from "./flags.js";
import { OnDemand } from "./on-demand.js";
import type { Publisher } from "./publisher.js";
import type { Reading } from "./reading.js";
import { type Reply, toReply } from "./reply.js";
import { requestFor } from "./request.js";
import { DocumentKeeper, type StoredDocument } from "./stored.js";
import { SupportCheck } from "./support-check.js";
import { Timer } from "./timer.js";
import type { Values } from "./values.js";

/** An engine that trapped is started anew at once, but not if the last one lived no longer than this. */
const SHORTEST_LIFE_MS = 1_000;

/** Then it takes this long. */
const RECOVERY_MS = 30_000;

/**
 * The body of a client: network, timer, memory and listeners, moved by a brain that is loaded when the client is
 * initialised. Nothing is decided here that the brain can decide.
 */
export class Life implements Body {
  readonly #settings: Settings;
  readonly #logger: Logger;
  readonly #publisher: Publisher;
  readonly #reading: Reading;
  readonly #values: Values;
  readonly #timer = new Timer();
  readonly #calls = new Calls();
  readonly #onDemand: OnDemand;
  readonly #keeper: DocumentKeeper | undefined;
  readonly #supportCheck: SupportCheck;
  #awakening: Promise<void> | undefined;
  #brain: Brain | undefined;
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

  constructor(settings: Settings, reading: Reading, publisher: Publisher) {
    this.#settings = settings;
    this.#logger = settings.logger;
    this.#supportCheck = new SupportCheck(settings.logger);
    this.#publisher = publisher;
    this.#reading = reading;
    this.#values = reading.values;
    this.#onDemand = new OnDemand(settings);
    const { snapshot, store } = settings;
    this.#keeper = store && new DocumentKeeper(store, settings);
    if (snapshot !== undefined) {
      this.#values.provide(snapshot.flags);
      if (snapshot.subject !== undefined) {
        reading.prepare(snapshot.subject);
      }
    }
  }

  initialize(options: InitializeOptions): Promise<void> {
    return this.#call("initialize", () => {
      this.#retry = options.retry ?? this.#retry;
      if (this.#settings.reportUsage) {
        this.#onDemand.startCounting((count) => this.#reading.countBy(count));
      }
      this.#awaken((brain) => this.#begin(brain, options));
    });
  }

  refresh(): Promise<void> {
    return this.#call("refresh", () => {
      if (this.#awakening === undefined) {
        this.settle("refresh", { kind: this.#reading.isReady ? "no-engine" : "not-initialized" });
      } else {
        this.#awaken((brain) => brain.refresh());
      }
    });
  }

  async shutdown(): Promise<void> {
    this.#brain?.shutdown();
    // A call made in this very moment has not reached the brain, which could not settle it.
    this.settle("initialize", { kind: "shut-down" });
    this.settle("refresh", { kind: "shut-down" });
    if (!this.#ended) {
      // There is no brain yet, or none any more, that could end this life in order.
      this.#disconnect();
      this.clear();
      this.emit("shutdown");
    }
    await Promise.all([this.#onDemand.end(), this.#keeper?.end()]);
  }

  /** The configuration being served, with its tag; undefined if it is not known. */
  configuration(): Pick<Snapshot, "config" | "etag"> | undefined {
    const bytes = this.#brain?.configuration();
    if (bytes === undefined) {
      return undefined;
    }
    const config: Configuration = JSON.parse(new TextDecoder().decode(bytes));
    const etag = this.#brain?.tag();
    return etag === undefined ? { config } : { config, etag };
  }

  async evaluateRemote(key: string, context: unknown): Promise<Evaluation> {
    if (this.#ended) {
      throw new FeatureFlagsError("NOT_INITIALIZED", "The client has been shut down");
    }
    const evaluation = await this.#onDemand.evaluate(key, context);
    this.#reading.hook?.(key, evaluation, context);
    return evaluation;
  }

  flush(): Promise<void> {
    return this.#onDemand.flush();
  }

  fetch(request: number, etag: string | undefined): void {
    const brain = this.#brain;
    this.#request = new AbortController();
    this.#logger.debug("Fetching the configuration", { etag });
    this.#send(etag, this.#request.signal).then(
      (reply) => brain?.reply(request, reply),
      (error) => {
        this.#thrown = error;
        this.#logger.debug("The transport failed", error);
        brain?.unreachable(request);
      },
    );
  }

  abort(): void {
    this.#request?.abort();
  }

  setTimer(delay: number): void {
    this.#timer.set(delay, () => this.#brain?.timer());
  }

  clearTimer(): void {
    this.#timer.clear();
  }

  restore(): readonly number[] {
    if (this.#reading.isReady) {
      return this.#values.keep();
    }
    const left = this.#values.restore(this.#settings.staleIfError);
    if (left.length === 0 && this.#retry && !this.#hasWarnedOfRetries) {
      this.#hasWarnedOfRetries = true;
      this.#logger.warn("The flags could not be fetched; the client goes on trying", this.#thrown);
    }
    return left;
  }

  stored(): StoredDocument | undefined {
    return this.#reading.isReady ? undefined : this.#keeper?.load();
  }

  serveStored(flags: ConfiguredFlags | undefined): void {
    if (flags === undefined) {
      this.#keeper?.warn("is no config document: it is ignored");
    } else {
      this.#keeper?.warn(
        "is served, because the service could not be reached: flags may be older than their time to live",
      );
      this.#supportCheck.check(flags);
      this.#changed(this.#values.serveStored(flags));
    }
  }

  confirmed(config: Uint8Array | undefined): void {
    if (config !== undefined) {
      this.#keeper?.save(config);
    }
  }

  apply(flags: ConfiguredFlags): void {
    this.#supportCheck.check(flags);
    this.#changed(this.#values.replace(flags));
  }

  renew(): void {
    this.#values.renew();
    this.#keeper?.renew();
  }

  expire(positions: Iterable<number>): void {
    this.#logger.warn(
      "Flags are not served any longer, because the service could not confirm them",
    );
    this.#changed(this.#values.expire(positions));
  }

  clear(): void {
    this.#reading.clear();
  }

  listen(): void {
    const brain = this.#brain;
    this.#onDemand.listen({
      told: (etag, spreadMs) => brain?.streamTold(etag, spreadMs),
      alive: () => brain?.streamAlive(),
      ended: (status, retryAfterMs) => brain?.streamEnded(status, retryAfterMs),
    });
  }

  unlisten(): void {
    this.#onDemand.unlisten();
  }

  report(): void {
    this.#onDemand.report();
  }

  emit(type: Exclude<LifecycleEventType, "refresh:error" | "engine:error" | "change">): void {
    this.#refreshing = type === "refresh:start";
    if (type === "ready") {
      if (this.#reading.isReady) {
        // The engine starts anew after a trap, the client does not.
        return;
      }
      this.#reading.isReady = true;
    }
    if (type === "shutdown") {
      this.#ended = true;
      this.#brain = undefined;
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
    if (failure.kind !== "no-engine") {
      // What the engine did has been logged where it did it.
      this.#logger.error(error.message, error);
    }
    this.#publisher.emit({ type: "refresh:error", error });
  }

  settle(call: Call, failure: Failure | undefined): void {
    if (failure?.kind === "status" || failure?.kind === "malformed") {
      this.#logUnheard(call, failure);
    }
    this.#calls.settle(call, failure, this.#thrown);
    this.#timer.hold(this.#calls.areWaiting);
    if (call === "initialize" && failure !== undefined && failure.kind !== "shut-down") {
      this.#recoverEngine(failure);
    }
  }

  trapped(cause: unknown): void {
    const configuration = this.#brain?.configuration();
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
    if (this.#ended || !this.#reading.isReady) {
      this.#fail();
    } else if (this.#trappedAt - before < SHORTEST_LIFE_MS) {
      this.#fail();
      this.#timer.set(RECOVERY_MS, () => this.#revive(configuration, false));
    } else {
      if (!this.#refreshing) {
        // It was asked for in this very moment, and the engine that has failed knows nothing of it.
        this.settle("refresh", { kind: "no-engine" });
      }
      this.#revive(configuration, this.#refreshing);
    }
  }

  #call(call: Call, begin: () => void): Promise<void> {
    return this.#calls.wait(call, () => {
      this.#timer.hold(true);
      if (this.#ended) {
        this.settle(call, { kind: "shut-down" });
      } else {
        begin();
      }
    });
  }

  /** Begins by what the caller has given, or else by a request. */
  #begin(brain: Brain, options: InitializeOptions): void {
    const { configuration, snapshot } = this.#settings;
    if (configuration !== undefined && !this.#hasBegun) {
      this.#hasBegun = true;
      // The flags of a snapshot and its configuration are the same: that is no change.
      this.#isProviding = true;
      const isProvided = brain.provide(configuration, snapshot?.etag);
      this.#isProviding = false;
      if (isProvided) {
        return;
      }
      this.#logger.error("The bootstrap is no configuration, and is left aside");
    }
    brain.initialize(options);
  }

  /** Goes on with a new brain. */
  #revive(configuration: Uint8Array | undefined, refreshing: boolean): void {
    this.#awaken((brain) => {
      if (configuration === undefined || !brain.resume(configuration, refreshing)) {
        this.#fail();
        brain.initialize({});
      }
      // Whoever got no answer meanwhile gets one now.
      this.#publisher.changed();
    });
  }

  /** Loads the engine, if it is not there, and then has it do something. */
  #awaken(act: (brain: Brain) => void): void {
    this.#awakening ??= import("../engine/brain.js")
      .then(({ awaken }) => awaken(this.#settings, this, EVALUATIONS))
      .then((brain) => {
        this.#brain = this.#ended ? undefined : brain;
        this.#reading.decider = this.#brain;
      });
    this.#awakening.then(
      () => this.#brain && act(this.#brain),
      (error) => {
        this.#thrown = error;
        this.#awakening = undefined;
        this.#fail();
      },
    );
  }

  /** Starts an engine later if the client is to go on and none of its engines does. */
  #recoverEngine(failure: Failure): void {
    const retry = this.#retry;
    if (this.#reading.isReady) {
      this.#timer.set(RECOVERY_MS, () => this.#revive(undefined, false));
    } else if (retry !== undefined && failure.kind === "no-engine") {
      this.#timer.set(RECOVERY_MS, () => this.#awaken((brain) => this.#begin(brain, { retry })));
    }
  }

  /** Logs a failure that no call of `initialize()` reports: the client goes on trying by itself. */
  #logUnheard(call: Call, failure: Failure): void {
    if (call === "initialize" && !this.#calls.isWaiting(call)) {
      const error = toError(call, failure, this.#thrown);
      this.#logger.error(error.message, error);
    }
  }

  /** Lets go of a brain that trapped, and of all that goes on for it. */
  #disconnect(): void {
    this.#brain = undefined;
    this.#reading.decider = undefined;
    this.#awakening = undefined;
    this.abort();
    this.unlisten();
    this.clearTimer();
  }

  /** Nothing that waits for the engine will come of it. */
  #fail(): void {
    if (this.#refreshing) {
      this.emitFailure({ kind: "no-engine" });
    }
    this.settle("initialize", { kind: "no-engine" });
    this.settle("refresh", { kind: "no-engine" });
  }

  #changed(flags: readonly string[]): void {
    if (!this.#reading.isReady) {
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
