import type { Evaluation, EvaluationContext, FeatureFlagsClient, FlagKey } from "@pennon/core";
import type { RequestEvaluator } from "./internal/request-evaluator.js";

/**
 * The flags for the context of the current request. It is request-scoped, and so is every provider that injects it.
 *
 * No method throws. Each read calls the resolver again, because the data that it uses, such as a user, may be added to
 * the request later.
 */
export class FeatureFlags {
  readonly #evaluator: RequestEvaluator;
  readonly #request: unknown;

  /** @internal */
  constructor(evaluator: RequestEvaluator, request: unknown) {
    this.#evaluator = evaluator;
    this.#request = request;
  }

  /** The client that evaluates the flags. */
  get client(): FeatureFlagsClient {
    return this.#evaluator.client;
  }

  /** The context of the request, or undefined if the resolver failed. */
  get context(): EvaluationContext | undefined {
    return this.#evaluator.context(this.#request);
  }

  /** Returns true if the flag is on, and `fallback` (false by default) if it cannot be evaluated. */
  isEnabled(key: FlagKey, fallback = false): boolean {
    return this.read(key)?.enabled ?? fallback;
  }

  /** Evaluates the flag, or returns undefined if that is impossible. */
  read(key: FlagKey): Evaluation | undefined {
    return this.#evaluator.read(key, this.#request);
  }

  /** Evaluates all flags, by key. */
  readAll(): Readonly<Record<string, Evaluation>> {
    const { context } = this;
    // As in the core, no key is inherited.
    return context ? this.client.withContext(context).readAll() : Object.create(null);
  }
}
