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
 * Flags of Pennon for `@openfeature/web-sdk`, evaluated in the page for the context that OpenFeature has been given. The
 * context is sent nowhere.
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
   * With a client, which stays the application's to shut down, or with the options for one of the provider's own.
   *
   * @throws {FeatureFlagsError} `INVALID_OPTIONS`
   */
  constructor(client: FeatureFlagsClient | FeatureFlagsClientOptions) {
    this.#session = new Session(client, (event, details) =>
      this.events.emit(ProviderEvents[event], details),
    );
  }

  /** The client that answers. */
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
   * Nothing has to be fetched for another subject, so the change is done when this returns. Only where there are no flags
   * yet it waits for them, and it fails if the context cannot be one.
   */
  onContextChange(_old: EvaluationContext, context: EvaluationContext): Promise<void> | undefined {
    try {
      toSubject(context);
    } catch (error) {
      // The SDK counts changes that are under way, and loses count if one throws at once.
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
