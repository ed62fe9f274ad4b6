import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { Monitor } from "./monitor.js";

/** A client that a provider creates: it starts when the provider is mounted, and is shut down when it is unmounted. */
export class Ownership {
  readonly client: FeatureFlagsClient;
  readonly monitor: Monitor;
  #held = false;
  #ended = false;

  /** Starts nothing, so that a render on a server, or one that React discards, leaves nothing behind. */
  constructor(options: FeatureFlagsClientOptions) {
    this.client = new FeatureFlagsClient(options);
    this.monitor = new Monitor(this.client);
  }

  /** True if the client has been shut down, so that a new one is needed. */
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
      // StrictMode and hot reloads unmount and mount again at once.
      queueMicrotask(() => this.#held || this.#end());
    };
  }

  #end(): void {
    this.#ended = true;
    void this.client.shutdown();
  }
}
