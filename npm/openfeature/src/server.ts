import {
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
} from "@openfeature/server-sdk";
import type { FeatureFlagsClient, FeatureFlagsClientOptions } from "@pennon/core";
import { type Question, resolve, resolveMistaken } from "./internal/resolution.js";
import { Session } from "./internal/session.js";

/**
 * Provides Pennon flags to `@openfeature/server-sdk`, evaluated in this process for the context of each call.
 *
 * ```ts
 * await OpenFeature.setProviderAndWait(new PennonServerProvider({ sdkKey: "pnk_…" }));
 * ```
 *
 * Events are not tracked: `track` does nothing.
 */
export class PennonServerProvider implements Provider {
  readonly metadata = { name: "Pennon" };
  readonly runsOn = "server";
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

  async resolveBooleanEvaluation(
    ...question: Question<boolean>
  ): Promise<ResolutionDetails<boolean>> {
    return resolve(this.client, ...question);
  }

  async resolveStringEvaluation(...question: Question<string>): Promise<ResolutionDetails<string>> {
    return resolveMistaken(this.client, ...question);
  }

  async resolveNumberEvaluation(...question: Question<number>): Promise<ResolutionDetails<number>> {
    return resolveMistaken(this.client, ...question);
  }

  async resolveObjectEvaluation<T extends JsonValue>(
    ...question: Question<T>
  ): Promise<ResolutionDetails<T>> {
    return resolveMistaken(this.client, ...question);
  }
}
