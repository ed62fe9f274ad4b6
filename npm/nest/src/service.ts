import type { Evaluation, EvaluationContext, FeatureFlagsClient, FlagKey } from "@pennon/core";
import type { Connection } from "./internal/connection.js";

/**
 * The flags for whom the request is from. It lives as long as the request, and so does whatever it is injected into.
 *
 * Nothing here throws. Each read asks the resolver again, because what it reads, such as a user, may be put on the request
 * after this was made.
 */
export class FeatureFlags {
  readonly #connection: Connection;
  readonly #request: unknown;

  /** @internal */
  constructor(connection: Connection, request: unknown) {
    this.#connection = connection;
    this.#request = request;
  }

  /** The client that answers. */
  get client(): FeatureFlagsClient {
    return this.#connection.client;
  }

  /** For whom the request is, or undefined if the resolver failed. */
  get context(): EvaluationContext | undefined {
    return this.#connection.context(this.#request);
  }

  /** Whether the flag is on; `fallback` where there is no answer. */
  isEnabled(key: FlagKey, fallback = false): boolean {
    return this.read(key)?.enabled ?? fallback;
  }

  /** What the flag is, or undefined where there is no answer. */
  read(key: FlagKey): Evaluation | undefined {
    return this.#connection.read(key, this.#request);
  }

  /** What all flags are, by key. */
  readAll(): Readonly<Record<string, Evaluation>> {
    const { context } = this;
    return context ? this.client.withContext(context).readAll() : {};
  }
}
