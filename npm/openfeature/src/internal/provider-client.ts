import { ErrorCode, ProviderFatalError } from "@openfeature/core";
import {
  type EvaluationContext,
  FeatureFlagsClient,
  type FeatureFlagsClientOptions,
  type LifecycleEventType,
  type Listener,
} from "@pennon/core";
import { withClientName } from "../../../shared/client-name.js";
import { requireSameVersion } from "../../../shared/same-version.js";
import { isShutDown } from "./resolution.js";

/** Emits an event of a provider. Both SDKs use the same names. */
export type EmitEvent = (
  event: "Ready" | "Stale" | "Error" | "ConfigurationChanged",
  details?: {
    readonly message?: string;
    readonly errorCode?: ErrorCode;
    readonly flagsChanged?: string[];
  },
) => void;

/** The client of a provider, and its events between `initialize` and `close`. */
export class ProviderClient {
  readonly #emit: EmitEvent;
  /** The options of the provider's own clients; undefined if the application passed a client. */
  readonly #options: FeatureFlagsClientOptions | undefined;
  #client: FeatureFlagsClient;
  #detach: (() => void) | undefined;
  #isClosed = false;
  /** True if OpenFeature has received an error, from an event or a failed `initialize`. */
  #hasReportedError = false;
  /** True while the engine restarts after a failure. */
  #hasEngineFailed = false;

  constructor(given: FeatureFlagsClient | FeatureFlagsClientOptions, emit: EmitEvent) {
    requireSameVersion();
    this.#emit = emit;
    this.#options = isClient(given) ? undefined : withClientName(given);
    this.#client = this.#options
      ? new FeatureFlagsClient(this.#options)
      : (given as FeatureFlagsClient);
  }

  get client(): FeatureFlagsClient {
    return this.#client;
  }

  /**
   * Does the same as `ready`. OpenFeature itself emits the events for success and failure. `context` is OpenFeature's
   * context, for a client in remote mode.
   */
  async initialize(context?: EvaluationContext, canEvaluate?: () => boolean): Promise<void> {
    if (this.#isClosed) {
      this.#isClosed = false;
      // A client cannot be restarted after it was shut down, but a provider can be registered again.
      if (this.#options) {
        this.#client = new FeatureFlagsClient(this.#options);
      }
    }
    const client = this.#client;
    this.#detach ??= this.#attach(client);
    if (context) {
      await client.setContext(context).catch((error) => this.#fail(client, error));
    }
    await this.ready(canEvaluate);
  }

  /**
   * Resolves when the client is ready, or at once if `canEvaluate` returns true: it then becomes ready in the
   * background, and a failure is an event. After a failure, makes it try again at once.
   */
  async ready(canEvaluate = () => false): Promise<void> {
    const client = this.#client;
    if (client.isReady()) {
      return;
    }
    const initialized = client.initialize({ retry: "background" });
    const ready = initialized.catch((error) => this.#fail(client, error));
    if (canEvaluate()) {
      ready.catch(({ message }) => this.#emit("Stale", { message }));
    } else {
      await ready;
    }
  }

  /** Stops emitting events, and shuts the client down if the provider owns it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#hasReportedError = false;
    this.#hasEngineFailed = false;
    this.#detach?.();
    this.#detach = undefined;
    if (this.#options) {
      await this.#client.shutdown();
    }
  }

  /** Reports an error of the client, unless the provider was closed meanwhile: it is then not one of the provider. */
  #fail(client: FeatureFlagsClient, error: Error): void {
    if (!this.#isClosed && client === this.#client) {
      this.#hasReportedError = true;
      throw isShutDown(client) ? new ProviderFatalError(error.message) : error;
    }
  }

  #attach(client: FeatureFlagsClient): () => void {
    const onSuccess = () => {
      if (this.#hasReportedError) {
        this.#hasReportedError = false;
        this.#hasEngineFailed = false;
        this.#emit("Ready");
      }
    };
    const listeners: { readonly [Type in LifecycleEventType]?: Listener<Type> } = {
      ready: onSuccess,
      "refresh:success": onSuccess,
      // Emitted at every failure, because a change of context makes the web SDK assume that the provider works again.
      "refresh:error": ({ error: { message } }) => {
        this.#hasReportedError = true;
        this.#emit("Stale", { message });
      },
      "engine:error": ({ error: { message } }) => {
        this.#hasReportedError = true;
        this.#hasEngineFailed = true;
        this.#emit("Error", { message, errorCode: ErrorCode.GENERAL });
      },
      change: ({ flags }) => this.#emit("ConfigurationChanged", { flagsChanged: [...flags] }),
      shutdown: () =>
        this.#emit("Error", {
          message: "The client has been shut down. Register another provider.",
          errorCode: ErrorCode.PROVIDER_FATAL,
        }),
    };
    const all = Object.entries(listeners) as [LifecycleEventType, Listener][];
    for (const [type, listener] of all) {
      client.on(type, listener);
    }
    const unsubscribe = client.subscribe(() => this.#hasEngineFailed && onSuccess());
    return () => {
      for (const [type, listener] of all) {
        client.off(type, listener);
      }
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
  return (given as Partial<FeatureFlagsClient> | undefined)?.evaluate !== undefined;
}
