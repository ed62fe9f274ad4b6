import { FeatureFlagsClient, type FeatureFlagsClientOptions, VERSION } from "@pennon/core";
import { withClientName } from "../../../shared/client-name.js";
import { warnOfRefreshes } from "../../../shared/refresh-warnings.js";
import { transport } from "./transport.js";

/** The maximum time that a page waits for the first flags of a process, if `timeoutMs` is not set. */
const WAIT_MS = 3_000;

/** The maximum length of a stream in a runtime that does not say when it is about to stop. */
const MAX_STREAM_MS = 60_000;

/** A client for the lifetime of the process, shared by all requests. */
export class SharedClient {
  readonly client: FeatureFlagsClient;
  /** Resolves when the client has flags, or when requests should stop waiting for them. */
  readonly settled: Promise<void>;
  readonly #streams = new Set<() => void>();
  readonly #knowsTermination: boolean;
  #isTerminated = false;

  constructor(options: FeatureFlagsClientOptions) {
    // The client would report no usage, because it has a transport.
    const reportUsage = options.reportUsage ?? options.transport == null;
    this.client = new FeatureFlagsClient(
      withClientName({ ...options, reportUsage, transport: options.transport ?? transport }),
    );
    const timeoutMs = options.timeoutMs ?? WAIT_MS;
    // Until the client has flags, readers return fallbacks. Its own logger is silent by default.
    this.settled = this.client.initialize({ timeoutMs, retry: "background" }).catch((error) => {
      (options.logger ?? console).warn(`Pages show fallbacks instead of flags: ${error.message}`);
    });
    if (options.logger == null) {
      warnOfRefreshes(this.client, (message) => console.warn(message));
    }
    this.#knowsTermination = onTermination(() => {
      this.#isTerminated = true;
      for (const end of this.#streams) {
        end();
      }
    });
  }

  /**
   * Calls `end` when the server is about to stop, because the server waits until all responses have ended; in the edge
   * runtime, after a minute. The page then connects again. Returns a function that unsubscribes.
   */
  onEnd(end: () => void): () => void {
    if (this.#isTerminated) {
      end();
      return () => {};
    }
    this.#streams.add(end);
    const timer = this.#knowsTermination ? undefined : setTimeout(end, MAX_STREAM_MS);
    return () => {
      clearTimeout(timer);
      this.#streams.delete(end);
    };
  }
}

/**
 * Listens for the signals that end the process, but only if another listener ends it. Without a listener, the signal
 * itself ends the process, and adding one would prevent that. Returns false if the runtime has no signals.
 */
function onTermination(listener: () => void): boolean {
  // The edge runtime lacks `process.on`, and Next.js would warn about its use.
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    if (process?.listenerCount?.(signal)) {
      process.once?.(signal, listener);
    }
  }
  return process?.listenerCount !== undefined;
}

const sharedClients = Symbol.for(`@pennon/next ${VERSION}`);

/** Next.js loads a module several times: for pages, for the proxy, and whenever a file changes in development. */
const scope = globalThis as { [sharedClients]?: Map<string, SharedClient> };

/** Returns the client for this SDK key and `baseUrl`. The options of the first call apply. */
export function sharedClientFor(options: FeatureFlagsClientOptions): SharedClient {
  scope[sharedClients] ??= new Map();
  const known = scope[sharedClients];
  const name = JSON.stringify([options.sdkKey, options.baseUrl]);
  const shared = known.get(name) ?? new SharedClient(options);
  known.set(name, shared);
  return shared;
}
