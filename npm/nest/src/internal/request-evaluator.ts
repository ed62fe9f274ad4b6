import type { Logger } from "@nestjs/common";
import type { Evaluation, EvaluationContext, FeatureFlagsClient } from "@pennon/core";
import type { FeatureFlagsModuleOptions } from "../options.js";

/** Evaluates flags for requests, with the contexts that the application's resolver returns. */
export class RequestEvaluator {
  readonly client: FeatureFlagsClient;
  readonly #options: FeatureFlagsModuleOptions;
  readonly #logger: Logger;

  constructor(client: FeatureFlagsClient, options: FeatureFlagsModuleOptions, logger: Logger) {
    this.client = client;
    this.#options = options;
    this.#logger = logger;
  }

  /** Returns the context of a request, or undefined if the application's resolver failed. */
  context(request: unknown): EvaluationContext | undefined {
    try {
      const context = this.#options.context?.(request) ?? {};
      if (typeof (context as Partial<Promise<unknown>>).then === "function") {
        Promise.resolve(context).catch(() => {});
        throw new TypeError("It returned a promise.");
      }
      return context;
    } catch (error) {
      this.#logger.error(
        `The context resolver failed, so the flag is off or has its fallback: ${error}`,
      );
      return undefined;
    }
  }

  /** Evaluates a flag for the context of a request, or returns undefined if that is impossible. Never throws. */
  read(key: string, request: unknown): Evaluation | undefined {
    const context = this.context(request);
    return context && this.client.read(key, context);
  }
}
