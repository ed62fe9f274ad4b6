/** The maximum time to wait for an idle moment, in milliseconds. */
const MAX_WAIT_MS = 2_000;

/** The time to wait in browsers that do not report idle moments, in milliseconds. */
const WAIT_MS = 200;

/** Work that is done once: when a page is idle, or as soon as something needs it. */
export class IdleTask {
  #work: (() => void) | undefined;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** Does the work when the page is idle. Outside of pages, does it now. */
  runWhenIdle(): void {
    if (typeof document === "undefined") {
      this.run();
    } else if (typeof requestIdleCallback === "function") {
      requestIdleCallback(this.run, { timeout: MAX_WAIT_MS });
    } else {
      setTimeout(this.run, WAIT_MS);
    }
  }

  /** Does the work now, unless it was done or canceled before. */
  readonly run = (): void => {
    const work = this.#work;
    this.#work = undefined;
    work?.();
  };

  cancel(): void {
    this.#work = undefined;
  }
}
