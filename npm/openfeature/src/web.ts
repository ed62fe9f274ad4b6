import {
  type EvaluationContext,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
} from "@openfeature/web-sdk";
import type { FeatureFlagsClient, FeatureFlagsClientOptions } from "@pennon/core";
import { type Question, resolve, resolveMistaken } from "./internal/resolution.js";
import { Session } from "./internal/session.js";
import { toSubject } from "./internal/subject.js";

/**
 * Provides Pennon flags to `@openfeature/web-sdk`, evaluated in the page for OpenFeature's context, which is never
 * sent.
 *
 * ```ts
 * await OpenFeature.setProviderAndWait(new PennonWebProvider({ sdkKey: "pnk_…" }), { targetingKey: "ada" });
 * ```
 *
 * Events are not tracked: `track` does nothing.
 */
export class PennonWebProvider implements Provider {
  readonly metadata = { name: "Pennon" };
  readonly runsOn = "client";
  readonly events = new OpenFeatureEventEmitter();
  readonly #session: Session;

  /**
   * Creates a provider, either with a client, which you shut down yourself, or with the options for a client that the
   * provider owns.
   *
   * @throws {FeatureFlagsError} `INVALID_OPTIONS`
   */
  constructor(client: FeatureFlagsClient | FeatureFlagsClientOptions) {
    this.#session = new Session(client, (event, details) =>
      this.events.emit(ProviderEvents[event], details),
    );
  }

  /** The client that evaluates the flags. */
  get client(): FeatureFlagsClient {
    return this.#session.client;
  }

  initialize(): Promise<void> {
    return this.#session.initialize();
  }

  onClose(): Promise<void> {
    return this.#session.close();
  }

  /**
   * Checks the new context, and rejects if it is invalid. Another context requires no request, so the change is
   * complete at once; only before the first flags, the promise waits for them.
   */
  onContextChange(_old: EvaluationContext, context: EvaluationContext): Promise<void> | undefined {
    try {
      toSubject(context);
    } catch (error) {
      // The SDK counts pending changes, and miscounts if this throws synchronously.
      return Promise.reject(error);
    }
    return this.client.isReady() ? undefined : this.#session.ready();
  }

  resolveBooleanEvaluation(...question: Question<boolean>): ResolutionDetails<boolean> {
    return resolve(this.client, ...question);
  }

  resolveStringEvaluation(...question: Question<string>): ResolutionDetails<string> {
    return resolveMistaken(this.client, ...question);
  }

  resolveNumberEvaluation(...question: Question<number>): ResolutionDetails<number> {
    return resolveMistaken(this.client, ...question);
  }

  resolveObjectEvaluation<T extends JsonValue>(...question: Question<T>): ResolutionDetails<T> {
    return resolveMistaken(this.client, ...question);
  }
}
