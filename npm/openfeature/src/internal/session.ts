import { ErrorCode } from "@openfeature/core";
import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { named } from "../../../client-name.js";
import { requireSameVersion } from "../../../same-version.js";

/** An event of a provider, by its name in either SDK. */
export type Tell = (
  event: "Ready" | "Stale" | "Error" | "ConfigurationChanged",
  details?: {
    readonly message?: string;
    readonly errorCode?: ErrorCode;
    readonly flagsChanged?: string[];
  },
) => void;

/** The client behind a provider, and what OpenFeature is told about it between `initialize` and `close`. */
export class Session {
  readonly #tell: Tell;
  /** What the provider makes its own clients of; it has none where the application gave one. */
  readonly #options: FeatureFlagsClientOptions | undefined;
  #client: FeatureFlagsClient;
  #detach: (() => void) | undefined;
  #isClosed = false;
  /** OpenFeature has been told, by us or by a failed `initialize`, that something is wrong. */
  #isTroubled = false;
  /** The engine has failed, and is starting anew. */
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

  /** Resolves when the client is ready. OpenFeature itself tells of that, and of a failure. */
  async initialize(): Promise<void> {
    if (this.#isClosed) {
      this.#isClosed = false;
      // A client that was shut down stays so, and a provider may be registered again.
      this.#client = this.#options ? new FeatureFlagsClient(this.#options) : this.#client;
    }
    this.#detach ??= this.#attach(this.#client);
    await this.ready();
  }

  /** Resolves when the client is ready, and has it try at once if it has failed before. */
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

  /** Tells nothing any longer, and shuts the client down if it is the provider's own. */
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
    // At every failure: a change of context makes a web SDK believe that all is well again.
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

/** Not by its class: the application may have the client by `require` and the provider by `import`. */
function isClient(
  given: FeatureFlagsClient | FeatureFlagsClientOptions,
): given is FeatureFlagsClient {
  return typeof (given as Partial<FeatureFlagsClient> | undefined)?.evaluate === "function";
}
