import { eventsAddress } from "./addresses.ts";

/** A change that a user or a script made. */
export type Change = {
  readonly isAboutAccounts: boolean;
  readonly isAboutEnvironments: boolean;
  /** The time of the change, in milliseconds. */
  readonly at: number;
  readonly by: string;
  /** The key of the changed flag. */
  readonly flag?: string;
  /** The id of the changed environment. */
  readonly environment?: string;
  /** The id of the request that made the change. */
  readonly request?: string;
  /** The description of the change, as it follows the actor's name. */
  readonly what: string;
};

/** A message to pages. */
export type HubMessage =
  /** The server responds. `at` is the time of the last change, in milliseconds. */
  | { readonly kind: "position"; readonly at: number }
  | { readonly kind: "change"; readonly change: Change }
  /** The server does not respond. */
  | { readonly kind: "lost" }
  /** The session has ended. */
  | { readonly kind: "ended" };

export type Listener = (message: HubMessage) => void;

/** The time for which the stream stays open without a visible page, in milliseconds. The next page may be loading. */
const closeDelay = 2_000;
/** The delay before a retry, in milliseconds, and the maximum random addition to it. */
const retryDelay = 2_000;
/** The time within which the server must say why it refused the stream, in milliseconds. */
const checkTimeout = 10_000;

/** Keeps the event stream open while a page is visible, and forwards its messages. */
export class Hub {
  /**
   * The listeners of visible pages. A hidden page gets the position when it becomes visible again. Until then, the hub
   * forgets its listener, which would keep the port of a page that never returns.
   */
  readonly #visible = new Set<Listener>();
  #stream: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The time of the last change; undefined while the server does not respond. */
  #at: number | undefined;
  /** True if the last attempt to reach the server failed. */
  #isLost = false;

  /** Sends messages to a page while it is visible, the position first. */
  setVisible(listener: Listener, isVisible: boolean): void {
    if (isVisible) {
      this.#visible.add(listener);
      if (this.#at !== undefined) {
        listener({ kind: "position", at: this.#at });
        return;
      }
      if (this.#isLost) {
        listener({ kind: "lost" });
      }
      if (this.#stream === undefined) {
        this.#open();
      }
    } else {
      this.#visible.delete(listener);
      this.#schedule(closeDelay, () => this.#close());
    }
  }

  get #hasVisiblePage(): boolean {
    return this.#visible.size > 0;
  }

  #broadcast(message: HubMessage): void {
    for (const listener of this.#visible) {
      listener(message);
    }
  }

  #reportLoss(): void {
    this.#isLost = true;
    this.#broadcast({ kind: "lost" });
  }

  #schedule(milliseconds: number, callback: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(callback, milliseconds);
  }

  #open(): void {
    clearTimeout(this.#timer);
    const stream = new EventSource(eventsAddress);
    this.#stream = stream;
    stream.addEventListener("position", ({ data }) => {
      this.#at = (JSON.parse(data) as { at: number | null }).at ?? 0;
      this.#isLost = false;
      this.#broadcast({ kind: "position", at: this.#at });
    });
    stream.addEventListener("change", ({ data }) => {
      const change = JSON.parse(data) as Change;
      this.#at = Math.max(this.#at ?? 0, change.at);
      this.#broadcast({ kind: "change", change });
    });
    stream.addEventListener("error", () => {
      this.#at = undefined;
      if (stream.readyState === EventSource.CLOSED && stream === this.#stream) {
        this.#stream = undefined;
        void this.#checkSession();
      } else {
        this.#reportLoss();
      }
    });
  }

  /** Determines why the stream was refused. */
  async #checkSession(): Promise<void> {
    const signal = AbortSignal.timeout(checkTimeout);
    const request = fetch(eventsAddress, { method: "HEAD", cache: "no-store", signal });
    const status = await request.then(
      (response) => response.status,
      () => undefined,
    );
    if (this.#stream !== undefined) {
      // A page that became visible has opened another stream meanwhile.
      return;
    }
    if (status === 401) {
      this.#broadcast({ kind: "ended" });
    } else {
      this.#reportLoss();
      this.#schedule(retryDelay * (1 + Math.random()), () => this.#resume());
    }
  }

  #resume(): void {
    if (this.#stream === undefined && this.#hasVisiblePage) {
      this.#open();
    }
  }

  #close(): void {
    if (this.#hasVisiblePage) {
      // The timer of this call replaced that of a retry.
      this.#resume();
    } else {
      this.#stream?.close();
      this.#stream = undefined;
      this.#at = undefined;
    }
  }
}
