// What few applications use, in a file of its own, which is loaded when one of them does.

import { headersOf, requestFor, urlOf } from "../internal/exchange.js";
import type { Settings } from "../options.js";
import type { TransportResponse } from "../transport.js";
import { type Answer, askRemotely } from "./remote.js";
import { follow, type StreamEnd, type StreamListener } from "./stream.js";
import { Usage } from "./usage.js";

/** Remote evaluation, the stream of changes, and reports of usage. */
export class LazyFeatures {
  readonly #usage: Usage;
  readonly #settings: Settings;
  /** Of evaluations that a caller waits for. */
  readonly #pending = new Set<AbortController>();

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#usage = new Usage(settings.logger);
  }

  /** Has the service evaluate a flag. Never rejects. */
  async ask(key: string, context: unknown): Promise<Answer> {
    const controller = new AbortController();
    this.#pending.add(controller);
    const answer = await askRemotely(key, context, (body) =>
      this.#post("evaluate", body, false, controller),
    );
    this.#pending.delete(controller);
    return answer;
  }

  /** Reads the stream of changes to its end. */
  async follow(signal: AbortSignal, listener: StreamListener): Promise<StreamEnd> {
    const request = requestFor(this.#settings, "stream", { Accept: "text/event-stream" }, signal);
    const stream = await this.#settings.transport.open?.(request);
    return stream === undefined
      ? { status: 404, retryAfterMs: undefined }
      : follow(stream, listener);
  }

  /** Begins to count usage, by the function that it gives. A page that goes away reports what it has. */
  startCounting(): Usage["count"] {
    globalThis.addEventListener?.("pagehide", this.#reportAll);
    return this.#usage.count;
  }

  /** Reports what usage has been counted since the last time. Never rejects. */
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

  /** Gives up what callers wait for, and reports usage for the last time. */
  async end(): Promise<void> {
    globalThis.removeEventListener?.("pagehide", this.#reportAll);
    for (const controller of this.#pending) {
      controller.abort();
    }
    await this.#reportAll();
  }

  /** Sends JSON, once, for as long as one attempt may take. */
  async #post(
    path: "evaluate" | "usage",
    body: string,
    keepalive: boolean,
    controller: AbortController,
  ): Promise<TransportResponse> {
    const { timeoutMs, transport } = this.#settings;
    const { signal } = controller;
    const timer = setTimeout(() => controller.abort(), timeoutMs);
    // A transport may not heed the signal.
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () =>
        reject(new Error("the service did not answer in time, or the client has been shut down")),
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
