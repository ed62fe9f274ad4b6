import type { Body, Brain } from "../engine/brain.js";
import type { Evaluation } from "../evaluation.js";
import {
  BuiltInEmitter,
  type EventEmitter,
  type LifecycleEvent,
  type LifecycleEventType,
  type Listener,
} from "../events.js";
import { type Logger, safeLogger } from "../logger.js";
import type { Settings } from "../options.js";
import { contain } from "./contain.js";
import { Deferred } from "./deferred.js";
import { type Call, type Failure, toError } from "./failure.js";
import { type Reply, toReply } from "./reply.js";
import { Timer } from "./timer.js";
import { type Flags, type FlagValue, Values } from "./values.js";

/** How long after a trap the client waits before it starts its engine anew. */
const RECOVERY_MS = 30_000;

/**
 * The body of a client: network, timer, memory and listeners, moved by a brain that is loaded when the client is
 * initialised. Nothing is decided here that the brain can decide.
 */
export class Life implements Body {
  readonly logger: Logger;
  readonly values: Values;
  readonly #settings: Settings;
  readonly #emitter: EventEmitter;
  readonly #timer = new Timer();
  readonly #waiting = new Map<Call, Deferred>();
  #awakening: Promise<void> | undefined;
  #brain: Brain | undefined;
  #request: AbortController | undefined;
  /** What the transport, or the engine, threw last. */
  #thrown: unknown;
  #ready = false;
  #ended = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.logger = safeLogger(settings.logger);
    this.values = new Values(settings.ttlMs, settings.cache, this.logger);
    this.#emitter =
      settings.eventEmitter ??
      new BuiltInEmitter((error) => this.logger.error("A listener failed", error));
    this.#warnOfShortTtl();
  }

  get isReady(): boolean {
    return this.#ready;
  }

  initialize(): Promise<void> {
    return this.#call("initialize", () => this.#start());
  }

  refresh(): Promise<void> {
    return this.#call("refresh", () => {
      if (this.#awakening === undefined) {
        this.settle("refresh", { kind: this.#ready ? "no-engine" : "not-initialized" });
      } else {
        this.#awakening.then(
          () => this.#brain?.refresh(),
          () => this.settle("refresh", { kind: "no-engine" }),
        );
      }
    });
  }

  shutdown(): void {
    this.#brain?.shutdown();
    // A call made in this very moment has not reached the brain, which could not settle it.
    this.settle("initialize", { kind: "shut-down" });
    this.settle("refresh", { kind: "shut-down" });
    if (!this.#ended) {
      // There is no brain yet, or none any more, that could end this life in order.
      this.abort();
      this.clearTimer();
      this.clear();
      this.emit("shutdown");
    }
  }

  /** What the flag is for this subject, or undefined if there is no configuration to tell. */
  evaluate({ index }: FlagValue, context: unknown): Evaluation | undefined {
    return this.#brain?.evaluate(index, context);
  }

  on(type: LifecycleEventType, listener: Listener): void {
    contain(() => this.#emitter.on(type, listener), this.#emitterFailed);
  }

  fetch(request: number, etag: string | undefined): void {
    const brain = this.#brain;
    this.#request = new AbortController();
    this.logger.debug("Fetching the configuration", { etag });
    this.#send(etag, this.#request.signal).then(
      (reply) => brain?.reply(request, reply),
      (error) => {
        this.#thrown = error;
        this.logger.debug("The transport failed", error);
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
    return this.#ready ? this.values.keep() : this.values.restore();
  }

  apply(flags: Flags): void {
    this.values.replace(flags);
  }

  renew(): void {
    this.values.renew();
  }

  expire(positions: Iterable<number>): void {
    this.values.expire(positions);
    this.logger.warn("Flags are not served any longer, because the service could not confirm them");
  }

  clear(): void {
    this.#ready = false;
    this.values.clear();
  }

  emit(type: Exclude<LifecycleEventType, "refresh:error">): void {
    if (type === "ready") {
      if (this.#ready) {
        // The engine starts anew after a trap, the client does not.
        return;
      }
      this.#ready = true;
    }
    if (type === "shutdown") {
      this.#ended = true;
      this.#brain = undefined;
    }
    this.#emit({ type });
    if (type === "shutdown" && this.#settings.eventEmitter === undefined) {
      this.#emitter.removeAllListeners();
    }
  }

  emitFailure(failure: Failure): void {
    const error = toError("refresh", failure, this.#thrown);
    this.logger.error(error.message, error);
    this.#emit({ type: "refresh:error", error });
  }

  settle(call: Call, failure: Failure | undefined): void {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    this.#timer.hold(this.#waiting.size > 0);
    if (failure === undefined) {
      waiting?.resolve();
      return;
    }
    waiting?.reject(toError(call, failure, this.#thrown));
    if (call === "initialize" && this.#ready) {
      // Nobody waits: this was the second start of an engine that trapped.
      this.#recoverLater();
    }
  }

  trapped(error: unknown): void {
    this.logger.error("The engine failed; reads go on from what is in memory", error);
    this.#brain = undefined;
    this.#awakening = undefined;
    this.abort();
    this.clearTimer();
    this.#failWithoutEngine(error);
  }

  /** Calls at the same time share one promise. */
  #call(call: Call, begin: () => void): Promise<void> {
    const waiting = this.#waiting.get(call);
    if (waiting !== undefined) {
      return waiting.promise;
    }
    const deferred = new Deferred();
    this.#waiting.set(call, deferred);
    this.#timer.hold(true);
    if (this.#ended) {
      this.settle(call, { kind: "shut-down" });
    } else {
      begin();
    }
    return deferred.promise;
  }

  #start(): void {
    this.#awaken().then(
      () => this.#brain?.initialize(),
      (error) => this.#failWithoutEngine(error),
    );
  }

  /** Loads the engine, once. */
  #awaken(): Promise<void> {
    this.#awakening ??= import("../engine/brain.js")
      .then(({ awaken }) => awaken(this.#settings, this))
      .then((brain) => {
        this.#brain = this.#ended ? undefined : brain;
      });
    return this.#awakening;
  }

  #failWithoutEngine(error: unknown): void {
    this.#thrown = error;
    this.#awakening = undefined;
    this.settle("initialize", { kind: "no-engine" });
    this.settle("refresh", { kind: "no-engine" });
  }

  #recoverLater(): void {
    this.#timer.set(RECOVERY_MS, () => this.#start());
  }

  async #send(etag: string | undefined, signal: AbortSignal): Promise<Reply> {
    const { transport, configUrl, sdkKey } = this.#settings;
    const headers = {
      Authorization: `Bearer ${sdkKey}`,
      Accept: "application/json",
      ...(etag === undefined ? {} : { "If-None-Match": etag }),
    };
    return toReply(await transport.send({ method: "GET", url: configUrl, headers, signal }));
  }

  #emit(event: LifecycleEvent): void {
    contain(() => this.#emitter.emit(event.type, event), this.#emitterFailed);
  }

  readonly #emitterFailed = (error: unknown): void => {
    this.logger.error("The event emitter failed", error);
  };

  #warnOfShortTtl(): void {
    const { ttlMs, pollIntervalMs } = this.#settings;
    if (ttlMs < 1_000) {
      this.logger.warn(
        `cacheTtlSeconds is read as milliseconds: ${ttlMs} keeps flags for less than a second`,
      );
    } else if (ttlMs < pollIntervalMs) {
      this.logger.warn(
        `cacheTtlSeconds (${ttlMs} ms) is shorter than pollIntervalMs (${pollIntervalMs} ms): flags will be fetched more often than you poll`,
      );
    }
  }
}
