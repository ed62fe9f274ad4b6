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
import {
  type EvaluationParameters,
  hasEvaluations,
  resolveCurrent,
  resolveOtherType,
} from "./internal/resolution.js";

/**
 * Provides Pennon flags to `@openfeature/web-sdk`, evaluated in the page for OpenFeature's context, which is never
 * sent. With a client in `mode: "remote"`, the context is sent to the server, which evaluates the flags.
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
  /** True in remote mode: the client has evaluations for one context, so for one domain. */
  readonly domainScoped: boolean;
  readonly #provided: ProviderClient;
  /** The rejection of an invalid context, while the SDK handles it. */
  #rejected: Promise<void> | undefined;

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
    this.domainScoped = this.client.mode === "remote";
  }

  /** The client that evaluates the flags. */
  get client(): FeatureFlagsClient {
    return this.#provided.client;
  }

  /** Resolves when flags can be evaluated for the context: at once, if the client has a bootstrap for it. */
  async initialize(context: EvaluationContext = {}): Promise<void> {
    return this.#provided.initialize(this.client.context && toPennonContext(context), () =>
      hasEvaluations(this.client, context),
    );
  }

  onClose(): Promise<void> {
    return this.#provided.close();
  }

  /**
   * Checks the new context, and rejects if it is invalid. A change of context needs no request, so it completes at
   * once, or as soon as the client has its first flags. With a client in `mode: "remote"`, it completes when the
   * evaluations for the new context have arrived; until then, the previous ones are returned with the reason `STALE`.
   */
  onContextChange(_old: EvaluationContext, context: EvaluationContext): Promise<void> | undefined {
    try {
      const changed = toPennonContext(context);
      // Only a client in remote mode has a context of its own.
      if (this.client.context) {
        // After an invalid first context, the client has not been initialized.
        return this.#provided.initialize(changed);
      }
    } catch (error) {
      // The SDK counts pending changes, and miscounts if this throws synchronously.
      this.#rejected = Promise.reject<void>(error);
      this.#rejected.catch(() => {
        this.#rejected = undefined;
      });
      return this.#rejected;
    }
    return this.client.isReady()
      ? // The SDK must handle the earlier change first, because the last one determines the status.
        this.#rejected?.catch(() => {})
      : this.#provided.ready(() => hasEvaluations(this.client, context));
  }

  resolveBooleanEvaluation(
    ...parameters: EvaluationParameters<boolean>
  ): ResolutionDetails<boolean> {
    return resolveCurrent(this.client, ...parameters);
  }

  resolveStringEvaluation(...parameters: EvaluationParameters<string>): ResolutionDetails<string> {
    return resolveOtherType(this.client, ...parameters);
  }

  resolveNumberEvaluation(...parameters: EvaluationParameters<number>): ResolutionDetails<number> {
    return resolveOtherType(this.client, ...parameters);
  }

  resolveObjectEvaluation<T extends JsonValue>(
    ...parameters: EvaluationParameters<T>
  ): ResolutionDetails<T> {
    return resolveOtherType(this.client, ...parameters);
  }
}
