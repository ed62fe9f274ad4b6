import { Logger, type OnApplicationShutdown, type OnModuleInit } from "@nestjs/common";
import { FeatureFlagsClient } from "@pennon/core";
import { withClientName } from "../../../shared/client-name.js";
import { warnOfRefreshes } from "../../../shared/refresh-warnings.js";
import { requireSameVersion } from "../../../shared/same-version.js";
import type { FeatureFlagsModuleOptions } from "../options.js";
import { DEFAULT } from "./tokens.js";

/** The maximum time that the start waits for flags, unless they are `required`. */
const WAIT_MS = 5_000;

/**
 * The start of the module's client, and its shutdown if the module has created it. Does nothing if a test overrides the
 * client.
 */
export class ClientLifecycle implements OnModuleInit, OnApplicationShutdown {
  readonly options: FeatureFlagsModuleOptions;
  readonly logger: Logger;
  #ownClient: FeatureFlagsClient | undefined;
  /** The error for which the application must not start. */
  #error: unknown;

  /** `name` is that of the client, among several. */
  constructor(options: FeatureFlagsModuleOptions, name: string) {
    requireSameVersion();
    this.options = options;
    this.logger = new Logger(name === DEFAULT ? "FeatureFlags" : `FeatureFlags ${name}`);
  }

  /** Returns the client after waiting for its flags. Rejects only for wrong options. */
  async start(): Promise<FeatureFlagsClient> {
    const { required } = this.options;
    const waitMs = this.options.waitMs ?? WAIT_MS;
    const client = this.options.client ?? this.#createClient();
    if (client.mode === "remote") {
      throw new TypeError(
        'A client with mode: "remote" has evaluations for one context, not for that of each request. Use the default mode, with the key of an environment that is not public.',
      );
    }
    // The value may come from an environment variable.
    if (!Number.isFinite(waitMs) || waitMs < 0) {
      throw new TypeError("waitMs must be a number of milliseconds, at least 0");
    }
    if (!client.isReady()) {
      await client
        .initialize(required ? {} : { timeoutMs: waitMs, retry: "background" })
        .catch((error) => this.#fail(error));
    }
    return client;
  }

  onModuleInit(): void {
    if (this.#error !== undefined) {
      throw this.#error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#ownClient?.shutdown();
  }

  #createClient(): FeatureFlagsClient {
    const { options } = this.options;
    if (options === undefined) {
      throw new TypeError(
        "FeatureFlagsModule has neither options nor a client. Pass one of them to forRoot() or forRootAsync().",
      );
    }
    this.#ownClient = new FeatureFlagsClient(withClientName(options));
    if (options.logger == null) {
      warnOfRefreshes(this.#ownClient, (message) => this.logger.warn(message));
    }
    return this.#ownClient;
  }

  async #fail(error: unknown): Promise<void> {
    if (this.options.required) {
      // Nest does not shut down an application whose start failed.
      await this.onApplicationShutdown();
      this.#error = error;
    } else {
      this.logger.warn(
        `The application starts without flags, and the client keeps trying to fetch them: ${error}`,
      );
    }
  }
}
