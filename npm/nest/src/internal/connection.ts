import { Logger, type OnApplicationShutdown, type OnModuleInit } from "@nestjs/common";
import { type Evaluation, type EvaluationContext, FeatureFlagsClient } from "@pennon/core";
import { Beginning } from "../../../beginning.js";
import { named } from "../../../client-name.js";
import { requireSameVersion } from "../../../same-version.js";
import type { FeatureFlagsModuleOptions } from "../options.js";

/** How long a start waits for flags that are not required. */
const WAIT_MS = 5_000;

/** A client, whom it is asked for, and its life with the application. */
export class Connection implements OnModuleInit, OnApplicationShutdown {
  readonly client: FeatureFlagsClient;
  readonly #options: FeatureFlagsModuleOptions;
  readonly #logger = new Logger("FeatureFlags");
  readonly #isOwn: boolean;
  readonly #beginning: Beginning;

  constructor(options: FeatureFlagsModuleOptions) {
    requireSameVersion();
    this.#options = options;
    this.client = options.client ?? made(options);
    this.#isOwn = options.client === undefined;
    this.#beginning = new Beginning(this.client, (error) =>
      this.#logger.warn(`There are no flags yet: ${error}`),
    );
  }

  /** For whom a request is, or undefined if the application's resolver failed. */
  context(request: unknown): EvaluationContext | undefined {
    try {
      return this.#options.context?.(request) ?? {};
    } catch (error) {
      this.#logger.error(`Nobody knows for whom a request is: ${error}`);
      return undefined;
    }
  }

  /** What a flag is for whom the request is from, or undefined where there is no answer. Never throws. */
  read(key: string, request: unknown): Evaluation | undefined {
    const context = this.context(request);
    return context && this.client.read(key, context);
  }

  async onModuleInit(): Promise<void> {
    if (this.client.isReady()) {
      return;
    }
    if (this.#options.required) {
      await this.#require();
    } else {
      // The logger is told of a failure.
      const begun = this.#beginning.begin().catch(() => {});
      await within(this.#options.waitMs ?? WAIT_MS, begun);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.#beginning.end();
    if (this.#isOwn) {
      await this.client.shutdown();
    }
  }

  async #require(): Promise<void> {
    try {
      await this.client.initialize();
    } catch (error) {
      // Nest shuts down nothing of an application that did not start.
      await this.onApplicationShutdown();
      throw error;
    }
  }
}

function made({ options }: FeatureFlagsModuleOptions): FeatureFlagsClient {
  if (options === undefined) {
    throw new TypeError("FeatureFlagsModule needs a client, or options for one");
  }
  return new FeatureFlagsClient(named(options));
}

/** Waits for `work`, but not for longer. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
