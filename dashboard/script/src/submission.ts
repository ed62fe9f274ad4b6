import type { Refresher } from "./refresher.ts";

/** The time within which a submitted form must lead to another page, in milliseconds. */
const submitTimeout = 10_000;

/** A form that has been submitted, or a page that is being reloaded, until the browser replaces the page. */
export class Submission {
  readonly #refresher: Refresher;
  /** The part of the page whose input is not lost when the browser leaves it. */
  #part: Element | undefined;
  /** The button that shows that its form is being submitted. */
  #busy: Element | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(refresher: Refresher) {
    this.#refresher = refresher;
  }

  get part(): Element | undefined {
    return this.#part;
  }

  /** Leaves the page as it is until the browser replaces it. */
  begin(part: Element, button: Element | null = null): void {
    this.#clear();
    this.#refresher.pause();
    this.#part = part;
    this.#busy = button;
    button?.setAttribute("aria-busy", "true");
    this.#timer = setTimeout(() => this.cancel(), submitTimeout);
  }

  /** Lets updates through again: the browser has not replaced the page, or has returned to it. */
  cancel(): void {
    this.#clear();
    this.#refresher.resume();
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#part = undefined;
    this.#busy?.removeAttribute("aria-busy");
    this.#busy = null;
  }
}
