import { FeatureFlagsClient, type FeatureFlagsClientOptions, VERSION } from "@pennon/core";
import { transport } from "./transport.js";

/** How long a client that could not begin waits before it tries again, all its retries being over. */
const PAUSE_MS = 30_000;

/** How long a page waits at most for the first flags of a process, if no other `timeoutMs` is given. */
const PATIENCE_MS = 3_000;

/** A client for the rest of the process. */
export class Session {
  readonly client: FeatureFlagsClient;
  /** Resolves when there are flags, or when nobody is to wait for them any longer. */
  readonly settled: Promise<void>;

  constructor(options: FeatureFlagsClientOptions) {
    this.client = new FeatureFlagsClient({
      ...options,
      transport: options.transport ?? transport,
    });
    this.settled = new Promise((resolve) => {
      const patience = setTimeout(resolve, options.timeoutMs ?? PATIENCE_MS);
      void this.#begin().then(() => {
        clearTimeout(patience);
        resolve();
      });
    });
  }

  async #begin(): Promise<void> {
    try {
      await this.client.initialize();
    } catch {
      // The logger has been told. Readers give defaults meanwhile, and see the flags as soon as there are some.
      const pause: unknown = setTimeout(() => void this.#begin(), PAUSE_MS);
      // On the edge it is a number, and nothing to keep a process alive.
      (pause as { unref?(): void }).unref?.();
    }
  }
}

const sessions = Symbol.for(`@pennon/next ${VERSION}`);

/** Next.js loads a module several times: for pages and for the proxy, and anew whenever a file changes in development. */
const scope = globalThis as { [sessions]?: Map<string, Session> };

/** The session of this key at this service; the options are those of who asks for it first. */
export function sessionFor(options: FeatureFlagsClientOptions): Session {
  scope[sessions] ??= new Map();
  const known = scope[sessions];
  const name = JSON.stringify([options.sdkKey, options.baseUrl]);
  const session = known.get(name) ?? new Session(options);
  known.set(name, session);
  return session;
}
