import { FeatureFlagsError } from "../errors.js";
import type { Evaluation } from "../evaluation.js";
import type { LazyFeatures } from "../lazy/index.js";
import type { StreamListener } from "../lazy/stream.js";
import type { Settings } from "../options.js";
import { evaluationOf } from "./flags.js";

/** The receiver of a stream's events and of its end. */
export interface StreamHandler extends StreamListener {
  onEnd(status: number, retryAfterMs: number | undefined): void;
}

/** Loads the rarely used features at first use. */
export class LazyLoader {
  readonly #settings: Settings;
  #lazy: Promise<LazyFeatures> | undefined;
  #stream: AbortController | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  async evaluate(key: string, context: unknown): Promise<Evaluation> {
    const lazy = await this.#load();
    const result = await lazy.evaluate(key, context);
    if ("enabled" in result) {
      return evaluationOf(result.enabled, result.reason);
    }
    const { code, detail, cause } = result;
    throw new FeatureFlagsError(code, `evaluateRemote('${String(key)}') failed: ${detail}`, {
      cause,
    });
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
        (error) => {
          this.#settings.logger.debug("The stream failed", error);
          ifCurrent(() => handler.onEnd(0, undefined));
        },
      );
  }

  /** Closes the stream. The listener gets no further events. */
  unlisten(): void {
    this.#stream?.abort();
    this.#stream = undefined;
  }

  /** Passes the function that counts evaluations to `take`. */
  startCounting(take: (count: ReturnType<LazyFeatures["startCounting"]>) => void): void {
    this.#with((lazy) => take(lazy.startCounting()));
  }

  report(): void {
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
      .catch((error) =>
        this.#settings.logger.error(
          "Usage reporting failed to load, so evaluations are not counted",
          error,
        ),
      );
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
