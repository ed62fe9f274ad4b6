import { Logger, type OnApplicationShutdown, type OnModuleInit } from "@nestjs/common";
import { type Evaluation, type EvaluationContext, FeatureFlagsClient } from "@pennon/core";
import { named } from "../../../client-name.js";
import { warnOfRefreshes } from "../../../refresh-warnings.js";
import { requireSameVersion } from "../../../same-version.js";
import type { FeatureFlagsModuleOptions } from "../options.js";
import { DEFAULT } from "./tokens.js";

/** The maximum time that the start waits for flags, unless they are `required`. */
const WAIT_MS = 5_000;

/** A client of the module: its lifecycle, and the contexts of requests. */
export class Connection implements OnModuleInit, OnApplicationShutdown {
  readonly client: FeatureFlagsClient;
  readonly #options: FeatureFlagsModuleOptions;
  readonly #logger: Logger;
  readonly #ownsClient: boolean;
  /** The error for which the application must not start. */
  #error: unknown;

  /** `name` is that of the client, among several. */
  constructor(options: FeatureFlagsModuleOptions, name: string) {
    requireSameVersion();
    this.#options = options;
    this.#logger = new Logger(name === DEFAULT ? "FeatureFlags" : `FeatureFlags ${name}`);
    this.client = options.client ?? createClient(options);
    if (this.client.mode === "remote") {
      throw new TypeError(
        'A client with mode: "remote" has evaluations for one context, not for that of each request. Use the default mode, with the key of an environment that is not public.',
      );
    }
    // The value may come from an environment variable.
    const { waitMs = WAIT_MS } = options;
    if (!Number.isFinite(waitMs) || waitMs < 0) {
      throw new TypeError("waitMs must be a number of milliseconds, at least 0");
    }
    this.#ownsClient = options.client === undefined;
    if (this.#ownsClient && options.options?.logger === undefined) {
      warnOfRefreshes(this.client, (message) => this.#logger.warn(message));
    }
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

  /** Waits for the flags. Never rejects. */
  async start(): Promise<this> {
    const { required, waitMs = WAIT_MS } = this.#options;
    if (!this.client.isReady()) {
      await this.client
        .initialize(required ? {} : { timeoutMs: waitMs, retry: "background" })
        .catch((error) => this.#fail(error));
    }
    return this;
  }

  onModuleInit(): void {
    if (this.#error !== undefined) {
      throw this.#error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.#ownsClient) {
      await this.client.shutdown();
    }
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#options.required) {
      // Nest does not shut down an application whose start failed.
      await this.onApplicationShutdown();
      this.#error = error;
    } else {
      this.#logger.warn(
        `The application starts without flags, and the client keeps trying to fetch them: ${error}`,
      );
    }
  }
}

function createClient({ options }: FeatureFlagsModuleOptions): FeatureFlagsClient {
  if (options === undefined) {
    throw new TypeError(
      "FeatureFlagsModule has neither options nor a client. Pass one of them to forRoot() or forRootAsync().",
    );
  }
  return new FeatureFlagsClient(named(options));
}
