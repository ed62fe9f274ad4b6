import {
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
} from "@openfeature/server-sdk";
import type { FeatureFlagsClient, FeatureFlagsClientOptions } from "@pennon/core";
import { ProviderClient } from "./internal/provider-client.js";
import { type EvaluationParameters, resolve, resolveOtherType } from "./internal/resolution.js";

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
  readonly #provided: ProviderClient;

  /**
   * Creates a provider, either with a client, which you shut down yourself, or with the options for a client that the
   * provider owns.
   *
   * @throws {FeatureFlagsError} `INVALID_OPTIONS`
   */
  constructor(client: FeatureFlagsClient | FeatureFlagsClientOptions) {
    this.#provided = new ProviderClient(client, (event, details) =>
      this.events.emit(ProviderEvents[event], details),
    );
  }

  /** The client that evaluates the flags. */
  get client(): FeatureFlagsClient {
    return this.#provided.client;
  }

  initialize(): Promise<void> {
    return this.#provided.initialize();
  }

  onClose(): Promise<void> {
    return this.#provided.close();
  }

  async resolveBooleanEvaluation(
    ...parameters: EvaluationParameters<boolean>
  ): Promise<ResolutionDetails<boolean>> {
    return resolve(this.client, ...parameters);
  }

  async resolveStringEvaluation(
    ...parameters: EvaluationParameters<string>
  ): Promise<ResolutionDetails<string>> {
    return resolveOtherType(this.client, ...parameters);
  }

  async resolveNumberEvaluation(
    ...parameters: EvaluationParameters<number>
  ): Promise<ResolutionDetails<number>> {
    return resolveOtherType(this.client, ...parameters);
  }

  async resolveObjectEvaluation<T extends JsonValue>(
    ...parameters: EvaluationParameters<T>
  ): Promise<ResolutionDetails<T>> {
    return resolveOtherType(this.client, ...parameters);
  }
}
