import {
  type EvaluationContext,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
} from "@openfeature/web-sdk";
import type { FeatureFlagsClient, FeatureFlagsClientOptions } from "@pennon/core";
import { toPennonContext } from "./internal/context.js";
import { ProviderClient } from "./internal/provider-client.js";
import { type EvaluationParameters, resolve, resolveOtherType } from "./internal/resolution.js";

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

  initialize(context: EvaluationContext = {}): Promise<void> {
    return this.#provided.initialize(async (client) => {
      if (client.mode === "remote") {
        await client.setContext(toPennonContext(context));
      }
    });
  }

  onClose(): Promise<void> {
    return this.#provided.close();
  }

  /**
   * Checks the new context, and rejects if it is invalid. In the client's default mode, a change of context needs no
   * request, so it completes at once, or as soon as the client has its first flags. In the mode `remote`, it completes
   * with the service's evaluations for the new context.
   */
  onContextChange(_old: EvaluationContext, context: EvaluationContext): Promise<void> | undefined {
    try {
      const changed = toPennonContext(context);
      if (this.client.mode === "remote") {
        return this.client.setContext(changed);
      }
    } catch (error) {
      // The SDK counts pending changes, and miscounts if this throws synchronously.
      return Promise.reject(error);
    }
    return this.client.isReady() ? undefined : this.#provided.ready();
  }

  resolveBooleanEvaluation(
    ...[key, fallback, context]: EvaluationParameters<boolean>
  ): ResolutionDetails<boolean> {
    return resolve(this.client, key, fallback, this.#forClient(context));
  }

  resolveStringEvaluation(
    ...[key, fallback, context]: EvaluationParameters<string>
  ): ResolutionDetails<string> {
    return resolveOtherType(this.client, key, fallback, this.#forClient(context));
  }

  resolveNumberEvaluation(
    ...[key, fallback, context]: EvaluationParameters<number>
  ): ResolutionDetails<number> {
    return resolveOtherType(this.client, key, fallback, this.#forClient(context));
  }

  resolveObjectEvaluation<T extends JsonValue>(
    ...[key, fallback, context]: EvaluationParameters<T>
  ): ResolutionDetails<T> {
    return resolveOtherType(this.client, key, fallback, this.#forClient(context));
  }

  /** Returns the context to evaluate; undefined in the mode `remote`, in which the client has its own. */
  #forClient(context: EvaluationContext): EvaluationContext | undefined {
    return this.client.mode === "remote" ? undefined : context;
  }
}
