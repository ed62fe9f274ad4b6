// The rarely used features, in a separate file, which is loaded at first use.

import type { EvaluationContext } from "../evaluation.js";
import { headersOf, urlOf } from "../internal/exchange.js";
import type { Settings } from "../internal/settings.js";
import { MAX_TIMER_MS } from "../internal/timer.js";
import type { TransportResponse } from "../transport.js";
import { evaluateRemotely, type RemoteResult } from "./remote.js";
import { follow, type StreamEnd, type StreamListener } from "./stream.js";
import { Usage } from "./usage.js";

export { contextWarning } from "./context-warning.js";

/** Remote evaluation, the stream of changes, and reports of usage. */
export class LazyFeatures {
  readonly #usage: Usage;
  readonly #settings: Settings;
  /** The controllers of pending evaluations. */
  readonly #pending = new Set<AbortController>();

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#usage = new Usage(settings);
  }

  /** Requests an evaluation from the server. Never rejects. */
  async evaluate(key: string, context: EvaluationContext | undefined): Promise<RemoteResult> {
    const controller = new AbortController();
    this.#pending.add(controller);
    const result = await evaluateRemotely(key, context, (body) =>
      this.#post("evaluate", body, false, controller),
    );
    this.#pending.delete(controller);
    return result;
  }

  /** Reads the stream of changes to its end. */
  async follow(signal: AbortSignal, listener: StreamListener): Promise<StreamEnd> {
    const stream = await this.#settings.transport.open?.({
      method: "GET",
      url: urlOf(this.#settings, "stream"),
      headers: { ...headersOf(this.#settings), Accept: "text/event-stream" },
      signal,
    });
    return stream === undefined
      ? { status: 404, retryAfterMs: undefined }
      : follow(stream, listener);
  }

  /** Starts counting usage, and returns the function that counts. When a page is closed, it reports its counts. */
  startCounting(): Usage["count"] {
    globalThis.addEventListener?.("pagehide", this.#reportAll);
    return this.#usage.count;
  }

  /** Reports the usage since the last report. Never rejects. */
  async report(): Promise<void> {
    await this.#usage.report(this.#sendReport);
  }

  readonly #reportAll = async (): Promise<void> => {
    await this.#usage.reportAll(this.#sendReport);
  };

  readonly #sendReport = async (body: string, keepalive: boolean): Promise<number> => {
    const { status } = await this.#post("usage", body, keepalive, new AbortController());
    return status;
  };

  /** Aborts pending evaluations, and reports usage for the last time. */
  async end(): Promise<void> {
    globalThis.removeEventListener?.("pagehide", this.#reportAll);
    for (const controller of this.#pending) {
      controller.abort();
    }
    await this.#reportAll();
  }

  /** Sends JSON in one attempt, limited by `timeoutMs`. */
  async #post(
    path: "evaluate" | "usage",
    body: string,
    keepalive: boolean,
    controller: AbortController,
  ): Promise<TransportResponse> {
    const { timeoutMs, transport } = this.#settings;
    const { signal } = controller;
    const timer = setTimeout(() => controller.abort(), Math.min(timeoutMs, MAX_TIMER_MS));
    // A transport may ignore the signal.
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () =>
        reject(new Error("Pennon did not respond in time, or the client has been shut down")),
      );
    });
    const headers = { ...headersOf(this.#settings), "Content-Type": "application/json" };
    const url = urlOf(this.#settings, path);
    try {
      const sent = transport.send({ method: "POST", url, headers, body, keepalive, signal });
      return await Promise.race([sent, aborted]);
    } finally {
      clearTimeout(timer);
    }
  }
}
