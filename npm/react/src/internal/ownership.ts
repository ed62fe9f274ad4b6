import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { Monitor } from "./monitor.js";

/** A client that a provider has made: it begins when the provider is mounted, and ends with it. */
export class Ownership {
  readonly client: FeatureFlagsClient;
  readonly monitor: Monitor;
  #held = false;
  #ended = false;

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
    this.client
      .initialize({ retry: "background" })
      .catch((error) => this.#ended || this.monitor.failed(error));
    return () => {
      this.#held = false;
      // StrictMode and hot reloads let go and take hold again at once.
      queueMicrotask(() => this.#held || this.#end());
    };
  }

  #end(): void {
    this.#ended = true;
    void this.client.shutdown();
  }
}
