import { eventsAddress, signInAddress } from "./addresses.ts";
import type { Bars } from "./bars.ts";

/** The time for which the server may be unreachable before a bar reports it, in milliseconds. */
const unreachableDelay = 3_000;

/** The bars that report why a page is not up to date, or why its form was not sent. */
export class ConnectionBars {
  readonly #bars: Bars;
  readonly #main: HTMLElement;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(bars: Bars, main: HTMLElement) {
    this.#bars = bars;
    this.#main = main;
  }

  /** True while no changes arrive, even if no bar reports it yet. */
  get isStreamLost(): boolean {
    return this.#timer !== undefined;
  }

  /** True if the server cannot be reached. */
  get isLost(): boolean {
    return this.isStreamLost || this.#bars.isShown("lost");
  }

  /** Reports that no changes arrive, unless they do so again soon. */
  showLostLater(): void {
    this.#timer ??= setTimeout(() => this.showLost(), unreachableDelay);
  }

  /** Reports that no changes arrive, and since when. */
  showLost(): void {
    const isFormResponse = this.#main.dataset.renderedAt === "";
    const age = isFormResponse
      ? "may be out of date"
      : `shows the state of ${this.#renderedTime()}`;
    this.#bars.hide("failing");
    this.#bars.show("lost", `${lostReason()}. This page ${age}.`);
  }

  hideLost(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#bars.hide("lost");
    this.#bars.hide("unsent");
  }

  /** Reports that the page cannot be updated, although changes arrive. */
  showFailing(): void {
    if (!this.#bars.isShown("lost")) {
      const age = `It shows the state of ${this.#renderedTime()}`;
      this.#bars.show("failing", `This page could not be updated. ${age}; Pennon tries again.`);
    }
  }

  hideFailing(): void {
    this.#bars.hide("failing");
  }

  /** Reports that a form was not sent. */
  showUnsent(): void {
    this.#bars.show("unsent", `Not sent: ${lostReason()}. What you typed is still here.`);
  }

  /** Reports that the session has ended. */
  showEnded(): void {
    const text = "Your session has ended. What you typed is still here.";
    this.#bars.show("ended", text, { href: signInAddress, text: "Sign in in another tab" });
  }

  hideEnded(): void {
    this.#bars.hide("ended");
  }

  #renderedTime(): string {
    const format = { hour: "2-digit", minute: "2-digit" } as const;
    const renderedAt = Number(this.#main.dataset.renderedAt);
    return new Date(renderedAt).toLocaleTimeString("en-GB", format);
  }
}

/** Returns the reason that the server cannot be reached. */
function lostReason(): string {
  return navigator.onLine ? "Pennon cannot be reached" : "You are offline";
}

/** Returns true if the server itself responds, and not a proxy in its place. */
export async function isReachable(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(unreachableDelay);
    const request = { method: "HEAD", cache: "no-store", signal } as const;
    const { status } = await fetch(eventsAddress, request);
    return status < 500;
  } catch {
    return false;
  }
}
