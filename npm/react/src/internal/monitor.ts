import { type FeatureFlagsClient, FeatureFlagsError } from "@pennon/core";
import { type FlagsStatus, LOADING, READY } from "../status.js";

/** Watches the status of a client, for as long as a provider is mounted. */
export class Monitor {
  readonly #client: FeatureFlagsClient;
  readonly #listeners = new Set<() => void>();
  #failure: FlagsStatus | undefined;
  #settled: Promise<void> | undefined;

  constructor(client: FeatureFlagsClient) {
    this.#client = client;
  }

  readonly status = (): FlagsStatus => this.#failure ?? (this.#client.isReady() ? READY : LOADING);

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  /** Starts watching. Returns a function that stops. */
  watch(): () => void {
    const client = this.#client;
    const good = () => this.#is(undefined);
    const bad = ({ error }: { readonly error: FeatureFlagsError }) => this.failed(error);
    const over = () =>
      this.failed(new FeatureFlagsError("NOT_INITIALIZED", "The client has been shut down"));
    client.on("ready", good).on("refresh:success", good).on("refresh:error", bad);
    client.on("shutdown", over);
    // Earlier events have been missed.
    this.#tell();
    return () => {
      client.off("ready", good).off("refresh:success", good).off("refresh:error", bad);
      client.off("shutdown", over);
    };
  }

  failed(error: FeatureFlagsError): void {
    this.#is(Object.freeze({ ready: this.#client.isReady(), error }));
  }

  /** Resolves when the client is ready or has failed. Returns the same promise until then. */
  settled(): Promise<void> {
    this.#settled ??= new Promise((resolve) => {
      const stop = this.subscribe(() => {
        if (this.status() !== LOADING) {
          stop();
          resolve();
        }
      });
    });
    return this.#settled;
  }

  #is(failure: FlagsStatus | undefined): void {
    this.#failure = failure;
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) {
      listener();
    }
  }
}
