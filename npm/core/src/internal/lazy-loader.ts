import { FeatureFlagsError } from "../errors.js";
import type { Evaluation } from "../evaluation.js";
import type { LazyFeatures } from "../lazy/index.js";
import type { RemoteResult } from "../lazy/remote.js";
import type { StreamListener } from "../lazy/stream.js";
import { isWellFormed } from "./attributes.js";
import { evaluationOf } from "./flags.js";
import { keyedContext } from "./keyed-context.js";
import type { Settings } from "./settings.js";

/** The maximum number of evaluations to keep until the code that counts them is loaded. */
const MAX_EARLY = 10_000;

/** The receiver of a stream's events and of its end. */
export interface StreamHandler extends StreamListener {
  onEnd(status: number, retryAfterMs: number | undefined): void;
}

/** Loads the rarely used features at first use. */
export class LazyLoader {
  readonly #settings: Settings;
  #lazy: Promise<LazyFeatures> | undefined;
  #stream: AbortController | undefined;
  /** The evaluations that were made before the code that counts them was loaded. */
  readonly #early: [key: string, evaluation: Evaluation][] = [];
  #count: ReturnType<LazyFeatures["startCounting"]> | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  async evaluate(key: string, context: unknown): Promise<Evaluation> {
    if (typeof key !== "string") {
      throw new FeatureFlagsError("EVALUATION_FAILED", "A flag key must be a string");
    }
    // Values that count as missing elsewhere are not sent. The context is read at once, because it may change.
    const sent = context === undefined ? context : keyedContext(context, isWellFormed).context;
    const result: RemoteResult = await this.#load().then(
      (lazy) => lazy.evaluate(key, sent),
      (cause) => ({
        code: "EVALUATION_FAILED",
        detail: "its code could not be loaded. See the cause.",
        cause,
      }),
    );
    if ("enabled" in result) {
      return evaluationOf(result.enabled, result.reason);
    }
    const { code, detail, cause } = result;
    throw new FeatureFlagsError(code, `evaluateRemote('${key}') failed: ${detail}`, { cause });
  }

  /** Opens the stream of changes. */
  listen(handler: StreamHandler): void {
    const stream = new AbortController();
    this.#stream = stream;
    const ifCurrent = (notify: () => void) => this.#stream === stream && notify();
    this.#load()
      .then((lazy) =>
        lazy.follow(stream.signal, {
          onEvent: (etag, spreadMs) => ifCurrent(() => handler.onEvent(etag, spreadMs)),
          onAlive: () => ifCurrent(() => handler.onAlive()),
        }),
      )
      .then(
        ({ status, retryAfterMs }) => ifCurrent(() => handler.onEnd(status, retryAfterMs)),
        (error) =>
          ifCurrent(() => {
            this.#settings.logger.debug("The stream failed", error);
            handler.onEnd(0, undefined);
          }),
      );
  }

  /** Closes the stream. The listener gets no further events. */
  unlisten(): void {
    this.#stream?.abort();
    this.#stream = undefined;
  }

  /** Counts an evaluation. */
  readonly count = (key: string, evaluation: Evaluation): void => {
    if (this.#count !== undefined) {
      this.#count(key, evaluation);
    } else if (this.#early.length < MAX_EARLY) {
      this.#early.push([key, evaluation]);
    }
  };

  /** Loads the code that reports the evaluations. A failure is silent, and the next report tries again. */
  startCounting(): void {
    this.#with((lazy) => {
      this.#count ??= lazy.startCounting();
      for (const [key, evaluation] of this.#early.splice(0)) {
        this.#count(key, evaluation);
      }
    });
  }

  report(): void {
    this.startCounting();
    this.#with((lazy) => lazy.report());
  }

  /** Reports usage now, and waits for the result. Never rejects. */
  async flush(): Promise<void> {
    const lazy = await this.#lazy?.catch(() => undefined);
    await lazy?.report();
  }

  /** Aborts pending remote evaluations, and reports usage for the last time. */
  async end(): Promise<void> {
    const lazy = await this.#lazy?.catch(() => undefined);
    await lazy?.end();
  }

  #with(act: (lazy: LazyFeatures) => unknown): void {
    this.#load()
      .then(act)
      .catch(() => {});
  }

  #load(): Promise<LazyFeatures> {
    this.#lazy ??= import("../lazy/index.js").then(
      ({ LazyFeatures }) => new LazyFeatures(this.#settings),
      (error) => {
        this.#lazy = undefined;
        throw error;
      },
    );
    return this.#lazy;
  }
}
