import { ErrorCode } from "@openfeature/core";
import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { named } from "../../../client-name.js";
import { requireSameVersion } from "../../../same-version.js";

/** Emits an event of a provider, by its name in either SDK. */
export type Tell = (
  event: "Ready" | "Stale" | "Error" | "ConfigurationChanged",
  details?: {
    readonly message?: string;
    readonly errorCode?: ErrorCode;
    readonly flagsChanged?: string[];
  },
) => void;

/** The client of a provider, and its events between `initialize` and `close`. */
export class Session {
  readonly #tell: Tell;
  /** The options of the provider's own clients; undefined if the application passed a client. */
  readonly #options: FeatureFlagsClientOptions | undefined;
  #client: FeatureFlagsClient;
  #detach: (() => void) | undefined;
  #isClosed = false;
  /** True if OpenFeature has received an error, from an event or a failed `initialize`. */
  #isTroubled = false;
  /** True while the engine restarts after a failure. */
  #isBroken = false;

  constructor(given: FeatureFlagsClient | FeatureFlagsClientOptions, tell: Tell) {
    requireSameVersion();
    this.#tell = tell;
    this.#options = isClient(given) ? undefined : named(given);
    this.#client = this.#options
      ? new FeatureFlagsClient(this.#options)
      : (given as FeatureFlagsClient);
  }

  get client(): FeatureFlagsClient {
    return this.#client;
  }

  /** Resolves when the client is ready. OpenFeature itself emits events for that, and for a failure. */
  async initialize(): Promise<void> {
    if (this.#isClosed) {
      this.#isClosed = false;
      // A client cannot be restarted after it was shut down, but a provider can be registered again.
      this.#client = this.#options ? new FeatureFlagsClient(this.#options) : this.#client;
    }
    this.#detach ??= this.#attach(this.#client);
    await this.ready();
  }

  /** Resolves when the client is ready. After a failure, makes it try again at once. */
  async ready(): Promise<void> {
    if (this.#client.isReady()) {
      return;
    }
    try {
      await this.#client.initialize({ retry: "background" });
    } catch (error) {
      this.#isTroubled = !this.#isClosed;
      throw error;
    }
  }

  /** Stops emitting events, and shuts the client down if the provider owns it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isTroubled = false;
    this.#isBroken = false;
    this.#detach?.();
    this.#detach = undefined;
    if (this.#options !== undefined) {
      await this.#client.shutdown();
    }
  }

  #attach(client: FeatureFlagsClient): () => void {
    const good = () => {
      if (this.#isTroubled) {
        this.#isTroubled = false;
        this.#isBroken = false;
        this.#tell("Ready");
      }
    };
    // Emitted at every failure, because a change of context makes the web SDK assume that the provider works again.
    const stale = ({ error }: { readonly error: Error }) => {
      this.#isTroubled = true;
      this.#tell("Stale", { message: error.message });
    };
    const broken = ({ error }: { readonly error: Error }) => {
      this.#isTroubled = true;
      this.#isBroken = true;
      this.#tell("Error", { message: error.message, errorCode: ErrorCode.GENERAL });
    };
    const changed = ({ flags }: { readonly flags: readonly string[] }) =>
      this.#tell("ConfigurationChanged", { flagsChanged: [...flags] });
    const over = () =>
      this.#tell("Error", {
        message: "The client has been shut down",
        errorCode: ErrorCode.PROVIDER_FATAL,
      });
    client.on("ready", good).on("refresh:success", good).on("refresh:error", stale);
    client.on("engine:error", broken).on("change", changed).on("shutdown", over);
    const unsubscribe = client.subscribe(() => this.#isBroken && good());
    return () => {
      client.off("ready", good).off("refresh:success", good).off("refresh:error", stale);
      client.off("engine:error", broken).off("change", changed).off("shutdown", over);
      unsubscribe();
    };
  }
}

/**
 * Returns true for a client. Does not check its class, because the application may load the client with `require` and
 * the provider with `import`.
 */
function isClient(
  given: FeatureFlagsClient | FeatureFlagsClientOptions,
): given is FeatureFlagsClient {
  return typeof (given as Partial<FeatureFlagsClient> | undefined)?.evaluate === "function";
}
