import { FeatureFlagsClient, type FeatureFlagsClientOptions, type FlagReader } from "@pennon/core";
import { ClientStatus } from "./client-status.js";

/** The option with which the core counts the age of the flags that a client takes over from another one. */
const PREVIOUS = Symbol.for("pennon.previous");

/** A client that a provider creates: it starts when the provider is mounted, and is shut down when it is unmounted. */
export class OwnedClient {
  readonly client: FeatureFlagsClient;
  readonly status: ClientStatus;
  readonly #options: FeatureFlagsClientOptions;
  #isMounted = false;
  /** The client for the case that React shows the provider again, after this one was shut down. */
  #next: OwnedClient | undefined;

  /** Starts nothing, so that a render on a server, or one that React discards, leaves nothing behind. */
  constructor(options: FeatureFlagsClientOptions) {
    this.client = new FeatureFlagsClient(options);
    this.status = new ClientStatus(this.client);
    this.#options = options;
  }

  /**
   * Starts the client, and returns a function that ends it. A hidden provider cannot be told from one that was removed.
   * `replace` receives a client that has not been started and serves the same flags. `reader` returns the reader of the
   * provider's context.
   */
  mount(reader: () => FlagReader, replace: (next: OwnedClient) => void): () => void {
    this.#isMounted = true;
    if (this.#next === undefined) {
      // The status shows a failure.
      this.client.initialize({ retry: "background" }).catch(() => {});
      if (PREVIOUS in this.#options) {
        // At once, instead of when the page is idle.
        this.client.refresh().catch(() => {});
      }
    } else {
      replace(this.#next);
    }
    return () => {
      this.#isMounted = false;
      // StrictMode and hot reloads unmount and mount again at once.
      queueMicrotask(() => {
        if (!this.#isMounted) {
          this.#next ??= this.#end(reader());
          replace(this.#next);
        }
      });
    };
  }

  #end(reader: FlagReader): OwnedClient {
    const { client } = this;
    const options = { ...this.#options, [PREVIOUS]: client };
    if (client.isReady()) {
      options.bootstrap = { ...reader.snapshot(), ...client.snapshot() };
    }
    if (client.mode === "remote") {
      options.context = client.context;
    }
    void client.shutdown();
    return new OwnedClient(options);
  }
}
