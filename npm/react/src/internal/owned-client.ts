import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { ClientStatus } from "./client-status.js";

/** A client that a provider creates: it starts when the provider is mounted, and is shut down when it is unmounted. */
export class OwnedClient {
  readonly client: FeatureFlagsClient;
  readonly status: ClientStatus;
  #isMounted = false;
  #isShutDown = false;

  /** Starts nothing, so that a render on a server, or one that React discards, leaves nothing behind. */
  constructor(options: FeatureFlagsClientOptions) {
    this.client = new FeatureFlagsClient(options);
    this.status = new ClientStatus(this.client);
  }

  /** True if the client has been shut down, so that a new one is needed. */
  get isShutDown(): boolean {
    return this.#isShutDown;
  }

  mount(): () => void {
    this.#isMounted = true;
    // The status shows a failure.
    this.client.initialize({ retry: "background" }).catch(() => {});
    return () => {
      this.#isMounted = false;
      // StrictMode and hot reloads unmount and mount again at once.
      queueMicrotask(() => this.#isMounted || this.#shutDown());
    };
  }

  #shutDown(): void {
    this.#isShutDown = true;
    void this.client.shutdown();
  }
}
