import { type FeatureFlagsClient, FeatureFlagsError } from "@pennon/core";
import { type FlagsStatus, LOADING, READY } from "../status.js";

/** Watches the status of a client, for as long as a provider is mounted. */
export class ClientStatus {
  readonly #client: FeatureFlagsClient;
  readonly #listeners = new Set<() => void>();
  #failure: FlagsStatus | undefined;
  #settled: Promise<void> | undefined;

  constructor(client: FeatureFlagsClient) {
    this.#client = client;
  }

  readonly current = (): FlagsStatus => this.#failure ?? (this.#client.isReady() ? READY : LOADING);

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  /** Starts watching. Returns a function that stops. */
  watch(): () => void {
    const client = this.#client;
    const onSuccess = () => this.#setFailure(undefined);
    const onError = ({ error }: { readonly error: FeatureFlagsError }) => this.fail(error);
    const onShutdown = () =>
      this.fail(
        new FeatureFlagsError(
          "NOT_INITIALIZED",
          "The client has been shut down. Create a new one.",
        ),
      );
    client.on("ready", onSuccess).on("refresh:success", onSuccess).on("refresh:error", onError);
    client.on("shutdown", onShutdown);
    // Earlier events have been missed.
    this.#notify();
    return () => {
      client
        .off("ready", onSuccess)
        .off("refresh:success", onSuccess)
        .off("refresh:error", onError);
      client.off("shutdown", onShutdown);
    };
  }

  fail(error: FeatureFlagsError): void {
    this.#setFailure(Object.freeze({ ready: this.#client.isReady(), error }));
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

  #setFailure(failure: FlagsStatus | undefined): void {
    this.#failure = failure;
    this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) {
      listener();
    }
  }
}
