import { FailureKind } from "../engine/protocol.js";
import { type ErrorCode, FeatureFlagsError } from "../errors.js";

/** The pending calls of the application. Concurrent calls of the same kind share one promise. */
export class Calls {
  readonly #pending = new Map<Call, PendingCall>();

  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  /** Returns the promise of a call, and calls `begin` if it is the first pending one of its kind. */
  wait(call: Call, begin: () => void): Promise<void> {
    const pending = this.#pending.get(call);
    if (pending !== undefined) {
      return pending.promise;
    }
    let settle: PendingCall["settle"] = () => {};
    const promise = new Promise<void>((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.#pending.set(call, { promise, settle });
    begin();
    return promise;
  }

  isPending(call: Call): boolean {
    return this.#pending.has(call);
  }

  /** Settles the pending calls of this kind. Returns false if there are none. */
  settle(call: Call, error: FeatureFlagsError | undefined): boolean {
    const pending = this.#pending.get(call);
    pending?.settle(error);
    return this.#pending.delete(call);
  }
}

interface PendingCall {
  readonly promise: Promise<void>;
  readonly settle: (error: Error | undefined) => void;
}

/** A call that waits for a request. */
export type Call = "initialize" | "refresh" | "setContext";

/** The cause of a failed request or call, from the core, or from the runtime if no core is loaded. */
export interface Failure {
  readonly kind: Exclude<FailureKind, FailureKind.None>;
  /** The status of the response. */
  readonly status?: number;
}

/** Returns the error for the caller. `thrown` is the last error of the transport or the engine. */
export function toError(call: Call, failure: Failure, thrown?: unknown): FeatureFlagsError {
  const detail = describe(failure);
  const cause = hasThrown(failure) ? thrown : new Error(detail);
  return new FeatureFlagsError(code(call, failure), `${call}() failed: ${detail}`, { cause });
}

/** Returns the error of a client that has been shut down. */
export function shutDown(): FeatureFlagsError {
  return new FeatureFlagsError(
    "NOT_INITIALIZED",
    "The client has been shut down. Create a new one.",
  );
}

function hasThrown({ kind }: Failure): boolean {
  return kind === FailureKind.Unreachable || kind === FailureKind.Trapped;
}

function code(call: Call, { kind }: Failure): ErrorCode {
  if (call === "initialize") {
    return "INITIALIZATION_FAILED";
  }
  return kind === FailureKind.NotInitialized || kind === FailureKind.ShutDown
    ? "NOT_INITIALIZED"
    : "REFRESH_FAILED";
}

function describe({ kind, status }: Failure): string {
  return kind === FailureKind.Status && status !== 401
    ? `the server responded with status ${status}${HINTS[status ?? 0] ?? ""}`
    : DETAILS[kind];
}

/** The likely cause of a status. */
const HINTS: Readonly<Record<number, string>> = {
  403: '. If the environment reveals no rules, set mode: "remote", or on servers, use a private one.',
  404: ". Check that baseUrl is the address of Pennon.",
  413: ". The context is too large.",
};

const DETAILS: Readonly<Record<Failure["kind"], string>> = {
  [FailureKind.Unreachable]: "Pennon could not be reached. Check that it is running at baseUrl.",
  [FailureKind.TimedOut]: "Pennon did not respond in time. Check the network, or raise timeoutMs.",
  [FailureKind.Status]:
    "Pennon rejected the sdkKey (status 401). " +
    "Use the current SDK key of the environment, and a baseUrl that does not redirect.",
  [FailureKind.Malformed]:
    "the response does not contain flags. Check that baseUrl is the address of Pennon.",
  [FailureKind.Trapped]: "the engine failed, or could not be loaded. See the cause.",
  [FailureKind.NotInitialized]: "the client has not been initialized. Await initialize() first.",
  [FailureKind.ShutDown]: "the client has been shut down. Create a new one.",
};
