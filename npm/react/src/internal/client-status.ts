import type { FeatureFlagsClient } from "@pennon/core";
import { type FlagsStatus, LOADING, READY } from "../status.js";

/** The events that change the status without a notification of the client's subscribers. */
const EVENTS = ["refresh:success", "refresh:error", "shutdown"] as const;

/** Watches the status of a client, for as long as a provider is mounted. */
export class ClientStatus {
  readonly #client: FeatureFlagsClient;
  readonly #listeners = new Set<() => void>();
  #failed: FlagsStatus = LOADING;
  #settled: Promise<void> | undefined;

  constructor(client: FeatureFlagsClient) {
    this.#client = client;
  }

  readonly current = (): FlagsStatus => {
    const { error } = this.#client;
    const ready = this.#client.isReady();
    if (error === undefined) {
      return ready ? READY : LOADING;
    }
    if (this.#failed.error !== error || this.#failed.ready !== ready) {
      this.#failed = Object.freeze({ ready, error });
    }
    return this.#failed;
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  /** Starts watching. Returns a function that stops. */
  watch(): () => void {
    const client = this.#client;
    const unsubscribe = client.subscribe(this.#notify);
    for (const event of EVENTS) {
      client.on(event, this.#notify);
    }
    // Earlier changes have been missed.
    this.#notify();
    return () => {
      unsubscribe();
      for (const event of EVENTS) {
        client.off(event, this.#notify);
      }
    };
  }

  /** Resolves when the client is ready or has failed. Returns the same promise until then. */
  settled(): Promise<void> {
    this.#settled ??= new Promise((resolve) => {
      const stop = this.subscribe(() => {
        if (this.current() !== LOADING) {
          stop();
          resolve();
        }
      });
    });
    return this.#settled;
  }

  readonly #notify = (): void => {
    for (const listener of [...this.#listeners]) {
      listener();
    }
  };
}
