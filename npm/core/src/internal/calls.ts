import { Deferred } from "./deferred.js";
import { type Call, type Failure, toError } from "./failure.js";

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
