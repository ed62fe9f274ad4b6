import type { Bars } from "./bars.ts";
import { concerns } from "./concerns.ts";
import type { ConnectionBars } from "./connection-bars.ts";
import { type FetchedPage, fetchPage } from "./dom.ts";
import type { Change } from "./hub.ts";
import type { Pointer } from "./pointer.ts";
import { Swap } from "./swap.ts";
import { ownRequests } from "./switches.ts";
import type { Units } from "./units.ts";

/** The delay after the last change before the page is fetched, in milliseconds. */
const refreshDelay = 250;

/** The maximum time from the timestamp of a change until pages include it, in milliseconds. */
const commitDelay = 1_000;

/** The age after which a page is updated without a change, in milliseconds. */
const maxAge = 45_000;

/** The delay before the next attempt when the server cannot render the page, in milliseconds. */
const retryDelay = 5_000;

/** The time within which the updated page must arrive, in milliseconds. */
const updateTimeout = 30_000;

/** Updates the page to the server's current rendering, unless the page is hidden or being left. */
export class Refresher {
  readonly #main: HTMLElement;
  readonly #units: Units;
  readonly #bars: Bars;
  readonly #connection: ConnectionBars;
  readonly #pointer: Pointer;
  /** The response to a form cannot be fetched again: its address returns another page. */
  readonly isFormResponse: boolean;
  #lastChange: Change | undefined;
  /** True if the user has used a switch since the last update. The event of that change may arrive later. */
  #hasSwitched = false;
  #isDue = false;
  #isPaused = false;
  /** True if the last update skipped only units without input. */
  #isBehind = false;
  /** True if an update waits for the pointer. */
  #isWaiting = false;
  /** The time of the last request for the page. */
  #requestedAt = Date.now();
  /** The number of updates that have failed since the last one that did not. */
  #failures = 0;
  #fetching: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    main: HTMLElement,
    units: Units,
    bars: Bars,
    connection: ConnectionBars,
    pointer: Pointer,
  ) {
    this.#main = main;
    this.#units = units;
    this.#bars = bars;
    this.#connection = connection;
    this.#pointer = pointer;
    this.isFormResponse = main.dataset.renderedAt === "";
  }

  /** Updates the page if a change since its rendering may affect it. */
  add(change: Change): void {
    if (!this.#isNewer(change.at) || !concerns(change, location.pathname)) {
      return;
    }
    const last = this.#lastChange;
    if (last === undefined || !this.#isElsewhere(change) || this.#isElsewhere(last)) {
      this.#lastChange = change;
    }
    this.refreshSoon();
  }

  /** Updates the page if anything has changed since its rendering. */
  catchUp(at: number): void {
    if (this.#isNewer(at)) {
      this.refreshSoon();
    }
  }

  /** Updates the page after the user has used a switch. */
  addSwitch(isSwitched: boolean): void {
    this.#hasSwitched ||= isSwitched;
    this.refreshSoon();
  }

  refreshSoon(delay = refreshDelay): void {
    if (this.isFormResponse) {
      return;
    }
    this.#isDue = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#refresh(), delay);
  }

  /** Updates the page if it is old. Traffic and relative times change without an event. */
  refreshIfOld(): void {
    if (Date.now() - this.#requestedAt > maxAge) {
      this.refreshSoon();
    }
  }

  refreshIfDue(): void {
    if (this.#isDue) {
      this.refreshSoon();
    }
  }

  /** Repeats an update that skipped a unit only because it was in use. */
  refreshIfBehind(): void {
    if (this.#isBehind) {
      this.refreshSoon();
    }
  }

  /** Repeats an update that has waited for the pointer. */
  refreshIfWaiting(): void {
    if (this.#isWaiting) {
      this.refreshSoon();
    }
  }

  /** Leaves the page as it is until `resume`. */
  pause(): void {
    this.#isPaused = true;
    this.#fetching?.abort();
  }

  resume(): void {
    this.#isPaused = false;
    this.refreshIfDue();
  }

  /** Returns true if a page that was rendered at the same time may lack a change of this time. */
  #isNewer(at: number): boolean {
    return at + commitDelay >= Number(this.#main.dataset.renderedAt);
  }

  /** Returns true if a change was made in another environment than the one that a flag's page shows. */
  #isElsewhere({ environment }: Change): boolean {
    const field = this.#main.querySelector<HTMLInputElement>(".flag-panel [name=environment]");
    return field !== null && environment !== undefined && environment !== field.value;
  }

  async #refresh(): Promise<void> {
    const isHidden = document.visibilityState === "hidden";
    if (!this.#isDue || this.#fetching !== undefined || this.#isPaused || isHidden) {
      return;
    }
    this.#isDue = false;
    const controller = new AbortController();
    this.#fetching = controller;
    const timeout = setTimeout(() => {
      controller.abort();
      this.#connection.showFailing();
    }, updateTimeout);
    let delay: number | undefined;
    try {
      delay = await this.#update(controller.signal);
    } finally {
      clearTimeout(timeout);
      this.#fetching = undefined;
    }
    if (delay === undefined) {
      this.refreshIfDue();
    } else {
      this.refreshSoon(delay);
    }
  }

  /** Updates the page. Returns the delay before the next attempt if it is not up to date yet. */
  async #update(signal: AbortSignal): Promise<number | undefined> {
    const { href } = location;
    const change = this.#lastChange;
    this.#requestedAt = Date.now();
    this.#isWaiting = false;
    const page = await fetchPage(href, { cache: "no-store", signal });
    if (signal.aborted) {
      return refreshDelay;
    }
    if (page?.response.redirected) {
      return undefined;
    }
    const freshMain = page?.document.querySelector<HTMLElement>("main[data-rendered-at]");
    if (page === undefined || !freshMain || !isPage(page.response)) {
      this.#recordFailure();
      return retryDelay;
    }
    this.#failures = 0;
    this.#connection.hideFailing();
    if (location.href !== href) {
      // The user's input has changed the address in the meantime.
      return refreshDelay;
    }
    if (buildId(page.document) !== buildId(document)) {
      this.#reportNewBuild();
      return undefined;
    }
    return this.#apply(page, freshMain, change);
  }

  #recordFailure(): void {
    this.#failures += 1;
    if (this.#failures > 1) {
      // A single failure is no news: an instance may be restarting.
      this.#connection.showFailing();
    }
  }

  #reportNewBuild(): void {
    // Screen readers announce it each time that it is shown.
    if (!this.#bars.isShown("build")) {
      const { href } = location;
      this.#bars.show("build", "Pennon has been updated.", { href, text: "Reload" });
    }
  }

  /**
   * Applies a fetched page that includes a change, unless the user must keep what is shown. Returns the delay before
   * the next attempt if the page must wait for the pointer.
   */
  #apply(
    page: FetchedPage,
    freshMain: HTMLElement,
    change: Change | undefined,
  ): number | undefined {
    const isOwn = change === undefined ? this.#hasSwitched : ownRequests.has(change.request ?? "");
    if (!isOwn && isPreviewOutdated(this.#main, freshMain)) {
      this.#keepPreview(change);
      return undefined;
    }
    const wait = this.#pointer.delay(freshMain);
    this.#isWaiting = wait > 0;
    if (this.#isWaiting) {
      return wait;
    }
    // Forms that the user is editing do not belong on a page that says that their object is gone.
    const isKept = !page.response.ok && this.#units.isInUse(this.#main);
    this.#swap(isKept ? undefined : freshMain, change, isOwn);
    if (!isKept) {
      document.title = page.document.title;
    }
    return undefined;
  }

  /** Leaves a preview as the user has read it, and reports that it is outdated. The server will refuse its form. */
  #keepPreview(change: Change | undefined): void {
    this.#settle(change);
    if (!this.#bars.isShown("conflict")) {
      this.#showConflict(change, "meanwhile, so this preview is out of date.");
    }
  }

  /**
   * Swaps in a rendering that includes a change, and reports the change if it affects what the user is editing. Without
   * a rendering, the page stays as it is.
   */
  #swap(fresh: HTMLElement | undefined, change: Change | undefined, isOwn: boolean): void {
    const swap = new Swap(this.#units);
    const skipped = fresh ? swap.run(this.#main, fresh) : swap.keep(this.#main);
    if (fresh) {
      this.#main.dataset.renderedAt = fresh.dataset.renderedAt;
    }
    this.#isBehind = skipped === "untouched";
    this.#settle(change);
    if (skipped === "edited" && !isOwn) {
      this.#showConflict(change, "while you were editing. What you typed is still here.");
    }
  }

  /** Forgets a change, and the use of a switch, after the update for it. */
  #settle(change: Change | undefined): void {
    if (this.#lastChange === change) {
      this.#lastChange = undefined;
    }
    this.#hasSwitched = false;
  }

  #showConflict(change: Change | undefined, effect: string): void {
    // A change from before the stream was open has no event.
    const what = change === undefined ? "This page changed" : `${change.by} ${change.what}`;
    const { href } = location;
    this.#bars.show("conflict", `${what} ${effect}`, { href, text: "Reload to see the change" });
  }
}

/** Returns true if a response contains a page, including a 403 or 404 page, but not a server error. */
function isPage({ ok, status }: Response): boolean {
  return ok || status === 403 || status === 404;
}

/** Returns true if the page shows a preview of changes that the server would not make any more. */
function isPreviewOutdated(shown: Element, fresh: Element): boolean {
  const expected = expectedBy(shown);
  return expected !== "" && expected !== expectedBy(fresh);
}

/** Returns the state that the form of a preview expects; nothing if the page has no such form. */
function expectedBy(page: Element): string {
  const form = "form:has([name=fingerprint], [name=to-revision])";
  const fields = page.querySelectorAll<HTMLInputElement>(`${form} [type=hidden]`);
  return [...fields].map(({ value }) => value).join();
}

/** The names of a page's style and scripts, which differ between builds. */
function buildId(page: Document): string {
  const style = page.querySelector("link[rel=stylesheet]")?.getAttribute("href");
  const script = page.querySelector<HTMLScriptElement>("script[data-islands]");
  return [style, script?.getAttribute("src"), script?.dataset.islands].join();
}
