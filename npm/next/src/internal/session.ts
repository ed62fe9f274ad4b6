import { FeatureFlagsClient, type FeatureFlagsClientOptions, VERSION } from "@pennon/core";
import { named } from "../../../client-name.js";
import { transport } from "./transport.js";

/** How long a page waits at most for the first flags of a process, if no other `timeoutMs` is given. */
const WAIT_MS = 3_000;

/** A client for the rest of the process. */
export class Session {
  readonly client: FeatureFlagsClient;
  /** Resolves when there are flags, or when nobody is to wait for them any longer. */
  readonly settled: Promise<void>;
  readonly #streams = new Set<() => void>();
  #isTerminated = false;

  constructor(options: FeatureFlagsClientOptions) {
    this.client = new FeatureFlagsClient(
      named({ ...options, transport: options.transport ?? transport }),
    );
    const timeoutMs = options.timeoutMs ?? WAIT_MS;
    // The client logs a failure. Readers return fallbacks meanwhile, and have the flags as soon as there are some.
    this.settled = this.client.initialize({ timeoutMs, retry: "background" }).catch(() => {});
    onTermination(() => {
      this.#isTerminated = true;
      for (const end of this.#streams) {
        end();
      }
    });
  }

  /** Calls it when the server is to stop, which waits for all of its responses. Returns what takes that back. */
  onEnd(end: () => void): () => void {
    if (this.#isTerminated) {
      end();
    } else {
      this.#streams.add(end);
    }
    return () => this.#streams.delete(end);
  }
}

/** Listens along with whoever ends the process at these signals: if nobody does, they do it, unless they are heard. */
function onTermination(listener: () => void): void {
  // On the edge there is none; Next.js would warn of `process.on` there.
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    if (process?.listenerCount?.(signal)) {
      process.once?.(signal, listener);
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
