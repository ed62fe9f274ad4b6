import { type ErrorCode, FeatureFlagsError } from "../errors.js";

/** The calls of the application that wait for an outcome. Calls of one kind at the same time share one promise. */
export class Calls {
  readonly #waiting = new Map<Call, Deferred>();

  get areWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** The promise for a call; `begin` is called if it is the first of its kind. */
  wait(call: Call, begin: () => void): Promise<void> {
    const waiting = this.#waiting.get(call);
    if (waiting !== undefined) {
      return waiting.promise;
    }
    const deferred = new Deferred();
    this.#waiting.set(call, deferred);
    begin();
    return deferred.promise;
  }

  isWaiting(call: Call): boolean {
    return this.#waiting.has(call);
  }

  /** `thrown` is what the transport, or the engine, threw last. */
  settle(call: Call, failure: Failure | undefined, thrown: unknown): void {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    if (failure === undefined) {
      waiting?.resolve();
    } else {
      waiting?.reject(toError(call, failure, thrown));
    }
  }
}

/** A promise that is settled from outside. */
export class Deferred {
  readonly promise: Promise<void>;
  resolve!: () => void;
  reject!: (error: Error) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** A call that waits for the outcome of a request. */
export type Call = "initialize" | "refresh";

/** The cause of a failed request or call, from the core, or from the runtime where there is no core. */
export type Failure =
  | {
      readonly kind:
        | "unreachable"
        | "timed-out"
        | "malformed"
        | "not-initialized"
        | "shut-down"
        | "no-engine";
    }
  | { readonly kind: "status"; readonly status: number };

/** The error for the caller. `thrown` is what the transport, or the engine, threw last. */
export function toError(call: Call, failure: Failure, thrown?: unknown): FeatureFlagsError {
  const detail = sentence(failure);
  const cause = thrownBy(failure) ? thrown : new Error(detail);
  return new FeatureFlagsError(code(call, failure), `${call}() failed: ${detail}`, { cause });
}

function thrownBy({ kind }: Failure): boolean {
  return kind === "unreachable" || kind === "no-engine";
}

function code(call: Call, { kind }: Failure): ErrorCode {
  if (call === "initialize") {
    return "INITIALIZATION_FAILED";
  }
  return kind === "not-initialized" || kind === "shut-down" ? "NOT_INITIALIZED" : "REFRESH_FAILED";
}

function sentence(failure: Failure): string {
  switch (failure.kind) {
    case "unreachable":
      return "the service could not be reached";
    case "timed-out":
      return "the service did not answer in time";
    case "malformed":
      return "the service answered with something that is no configuration (is baseUrl right?)";
    case "not-initialized":
      return "the client has not been initialized";
    case "shut-down":
      return "the client has been shut down";
    case "no-engine":
      return "the engine could not be started, or failed";
    case "status":
      return failure.status === 401
        ? "the service does not accept the sdkKey (status 401)"
        : `the service answered with status ${failure.status}`;
  }
}
