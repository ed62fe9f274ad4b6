import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { Monitor } from "./monitor.js";

/** How long a client that could not begin waits before it tries again, all its retries being over. */
const PAUSE_MS = 30_000;

/** A client that a provider has made: it begins when the provider is mounted, and ends with it. */
export class Ownership {
  readonly client: FeatureFlagsClient;
  readonly monitor: Monitor;
  #held = false;
  #ended = false;
  #pause: ReturnType<typeof setTimeout> | undefined;

  /** Nothing begins here, so that a render that is thrown away, or that takes place on a server, leaves nothing behind. */
  constructor(options: FeatureFlagsClientOptions) {
    this.client = new FeatureFlagsClient(options);
    this.monitor = new Monitor(this.client);
  }

  /** Whether another one is needed, because this one's client has been shut down. */
  get ended(): boolean {
    return this.#ended;
  }

  hold(): () => void {
    this.#held = true;
    this.#begin();
    return () => {
      this.#held = false;
      // StrictMode and hot reloads let go and take hold again at once.
      queueMicrotask(() => this.#held || this.#end());
    };
  }

  #begin(): void {
    clearTimeout(this.#pause);
    this.client.initialize().catch((error) => {
      if (this.#held) {
        this.monitor.failed(error);
        this.#pause = setTimeout(() => this.#begin(), PAUSE_MS);
      }
    });
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#pause);
    void this.client.shutdown();
  }
}
