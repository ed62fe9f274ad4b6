import { Bars } from "./bars.ts";
import type { SetVisible } from "./connection.ts";
import { fetchPage, on } from "./dom.ts";
import type { Change, Listener } from "./hub.ts";
import { Swap } from "./swap.ts";
import { ownRequests, switchSettled } from "./switches.ts";
import { Units } from "./units.ts";

/** The delay after the last change before the page is fetched, in milliseconds. */
const refreshDelay = 250;
/** The time for which the server may be unreachable before a bar reports it, in milliseconds. */
const unreachableDelay = 3_000;
/** The maximum time from the timestamp of a change until pages include it, in milliseconds. */
const commitDelay = 1_000;

/** The delay before the next attempt when the server cannot render the page, in milliseconds. */
const retryDelay = 5_000;

/** The time within which the updated page must arrive, in milliseconds. */
const updateTimeout = 30_000;

/** The delay between two looks for a request that the page waits for, in milliseconds. */
const awaitingDelay = 3_000;

/** The time within which a submitted form must lead to another page, in milliseconds. */
const submitTimeout = 10_000;

/**
 * Applies the changes of others to the page without reloading it, and reports when that is not possible. Returns a
 * function that returns true if the page has unsaved input.
 */
export function keepUpToDate(
  main: HTMLElement,
  connect: (listener: Listener) => SetVisible,
  isOutdated: boolean,
): () => boolean {
  const bars = new Bars();
  const units = new Units(main);
  // The response to a form cannot be fetched again: its address returns another page.
  const isFormResponse = main.dataset.renderedAt === "";
  let renderedAt = Number(main.dataset.renderedAt);
  let lastChange: Change | undefined;
  /** True if the user has used a switch since the last update. The event of that change may arrive later. */
  let hasSwitched = false;
  let isDue = false;
  /** True if the last update skipped only units without input; the next `focusout` repeats it. */
  let isBehind = false;
  /** The number of updates that have failed since the last one that did not. */
  let failures = 0;
  let fetching: AbortController | undefined;
  let submitTimer: ReturnType<typeof setTimeout> | undefined;
  /** The form that was submitted, or the page that is being reloaded: leaving the page loses none of its input. */
  let submitted: Element | undefined;
  /** The button that shows that its form is being submitted. */
  let busy: Element | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let unreachableTimer: ReturnType<typeof setTimeout> | undefined;

  const setVisible = connect((message) => {
    if (message.kind === "lost") {
      unreachableTimer ??= setTimeout(showLost, unreachableDelay);
      return;
    }
    hideLost();
    if (message.kind === "ended") {
      const text = "Your session has ended. What you typed is still here.";
      bars.show("ended", text, { href: "/dashboard/login", text: "Sign in in another tab" });
      return;
    }
    bars.hide("ended");
    const at = message.kind === "position" ? message.at : message.change.at;
    if (isFormResponse || at + commitDelay < renderedAt) {
      return;
    }
    if (message.kind === "position") {
      refreshSoon();
    } else if (concerns(message.change, location.pathname)) {
      if (lastChange === undefined || !isElsewhere(message.change) || isElsewhere(lastChange)) {
        lastChange = message.change;
      }
      refreshSoon();
    }
  });

  /** Returns true if a change was made in another environment than the one that a flag's page shows. */
  function isElsewhere({ environment }: Change): boolean {
    const shown = main.querySelector<HTMLInputElement>(".flag-panel [name=environment]")?.value;
    return shown !== undefined && environment !== undefined && environment !== shown;
  }

  /** Reports that no changes arrive, and since when. */
  function showLost(): void {
    const age = isFormResponse ? "may be out of date" : `shows the state of ${renderedTime()}`;
    bars.hide("failing");
    bars.show("lost", `${lostReason()}. This page ${age}.`);
  }

  /** Reports that the page cannot be updated, although changes arrive. */
  function showFailing(): void {
    if (!bars.isShown("lost")) {
      const age = `It shows the state of ${renderedTime()}`;
      bars.show("failing", `This page could not be updated. ${age}; Pennon tries again.`);
    }
  }

  function renderedTime(): string {
    const format = { hour: "2-digit", minute: "2-digit" } as const;
    return new Date(renderedAt).toLocaleTimeString("en-GB", format);
  }

  function hideLost(): void {
    clearTimeout(unreachableTimer);
    unreachableTimer = undefined;
    bars.hide("lost");
    bars.hide("unsent");
  }

  /** Submits a form if the server responds although the stream does not. Otherwise, the page keeps the input. */
  async function submitIfReachable(
    form: HTMLFormElement,
    submitter: HTMLElement | null,
  ): Promise<void> {
    if (await isReachable()) {
      hideLost();
      form.requestSubmit(submitter);
    } else {
      bars.show("unsent", `Not sent: ${lostReason()}. What you typed is still here.`);
    }
  }

  function refreshSoon(delay = refreshDelay): void {
    isDue = true;
    clearTimeout(timer);
    timer = setTimeout(refresh, delay);
  }

  async function refresh(): Promise<void> {
    if (
      !isDue ||
      fetching !== undefined ||
      submitTimer !== undefined ||
      document.visibilityState === "hidden"
    ) {
      return;
    }
    isDue = false;
    const controller = new AbortController();
    fetching = controller;
    const timeout = setTimeout(() => {
      controller.abort();
      showFailing();
    }, updateTimeout);
    let delay: number | undefined;
    try {
      delay = await update(controller.signal);
    } finally {
      clearTimeout(timeout);
      fetching = undefined;
    }
    if (delay === undefined) {
      refreshIfDue();
    } else {
      refreshSoon(delay);
    }
  }

  function refreshIfDue(): void {
    if (isDue) {
      refreshSoon();
    }
  }

  /** Updates the page. Returns the delay before the next attempt if it is not up to date yet. */
  async function update(signal: AbortSignal): Promise<number | undefined> {
    const { href } = location;
    const change = lastChange;
    const page = await fetchPage(href, { cache: "no-store", signal });
    if (signal.aborted) {
      return refreshDelay;
    }
    if (page?.response.redirected) {
      return undefined;
    }
    const fresh = page !== undefined && isPage(page.response) ? page.document : undefined;
    const freshMain = fresh?.querySelector<HTMLElement>("main[data-rendered-at]");
    if (!fresh || !freshMain) {
      failures += 1;
      if (failures > 1) {
        // A single failure is no news: an instance may be restarting.
        showFailing();
      }
      return retryDelay;
    }
    failures = 0;
    bars.hide("failing");
    if (location.href !== href) {
      // The user's input has changed the address in the meantime.
      return refreshDelay;
    }
    if (buildId(fresh) !== buildId(document)) {
      bars.show("build", "Pennon has been updated.", { href, text: "Reload" });
      return undefined;
    }
    const skipped = new Swap(units).run(main, freshMain);
    isBehind = skipped === "untouched";
    renderedAt = Number(freshMain.dataset.renderedAt);
    document.title = fresh.title;
    if (lastChange === change) {
      lastChange = undefined;
    }
    const isOwn = change === undefined ? hasSwitched : ownRequests.has(change.request ?? "");
    hasSwitched = false;
    if (skipped === "edited" && !isOwn) {
      // A change from before the stream was open has no event.
      const what = change === undefined ? "This page changed" : `${change.by} ${change.what}`;
      const text = `${what} while you were editing. What you typed is still here.`;
      bars.show("conflict", text, { href, text: "Reload to see the change" });
    }
    return undefined;
  }

  /** Leaves the page as it is until the browser replaces it. */
  function awaitNavigation(leaving: Element, button: Element | null = null): void {
    fetching?.abort();
    cancelSubmit();
    submitted = leaving;
    busy = button;
    busy?.setAttribute("aria-busy", "true");
    submitTimer = setTimeout(cancelSubmit, submitTimeout);
  }

  /** Reloads a page that the browser has kept: WebKit resets some of its fields, but not their results on the page. */
  async function reloadIfReachable(): Promise<void> {
    if (await isReachable()) {
      awaitNavigation(main);
      location.reload();
    }
  }

  function cancelSubmit(): void {
    clearTimeout(submitTimer);
    submitTimer = undefined;
    submitted = undefined;
    busy?.removeAttribute("aria-busy");
    busy = null;
    refreshIfDue();
  }

  document.addEventListener("focusout", () => {
    if (isBehind) {
      refreshSoon();
    }
  });
  document.addEventListener(switchSettled, (event) => {
    hasSwitched ||= (event as CustomEvent<boolean>).detail;
    // Updates skip a switch that waits for its answer. The answer may be lost, or older than the last update.
    if (!isFormResponse) {
      refreshSoon();
    }
  });
  addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented) {
      // A script shows the response without navigation.
      units.forget(form);
      return;
    }
    if (!(form instanceof HTMLFormElement) || form.method !== "post") {
      return;
    }
    // Without a server, the browser would replace the page and the input by its own error.
    const isLost = unreachableTimer !== undefined || bars.isShown("lost");
    if (form === submitted) {
      // The browser would drop the response to the first request, which may show a new key or password.
      event.preventDefault();
    } else if (isLost) {
      event.preventDefault();
      void submitIfReachable(form, event.submitter);
    }
  });
  // A form that navigates to another page causes a change event, too. No refresh until then, because the object of this
  // page may no longer exist.
  addEventListener("submit", (event) => {
    setTimeout(() => {
      const form = event.target;
      const isNavigation = form instanceof HTMLFormElement && form.method !== "dialog";
      if (isNavigation && !event.defaultPrevented) {
        awaitNavigation(form, event.submitter);
      }
    });
  });
  // A link inside a form, such as "Cancel", discards its input, unless it opens another tab.
  on("click", "main form a[href]", (link: HTMLAnchorElement, { ctrlKey, metaKey, shiftKey }) => {
    const form = link.closest("form");
    const leavesPage = !ctrlKey && !metaKey && !shiftKey && link.target !== "_blank";
    if (form !== null && leavesPage) {
      units.discard(form);
    }
  });
  addEventListener("beforeunload", (event) => {
    if (units.hasUnsavedInput(submitted)) {
      event.preventDefault();
    }
  });
  const reportVisibility = () => {
    setVisible(document.visibilityState === "visible");
    refreshIfDue();
  };
  document.addEventListener("visibilitychange", reportVisibility);
  addEventListener("pageshow", ({ persisted }) => {
    cancelSubmit();
    reportVisibility();
    if (persisted && !isFormResponse) {
      void reloadIfReachable();
    }
  });
  addEventListener("pagehide", () => setVisible(false));
  addEventListener("offline", showLost);
  addEventListener("online", () => {
    // The stream may have survived the interruption, or still be broken.
    if (unreachableTimer === undefined) {
      hideLost();
      refreshSoon();
    }
  });
  reportVisibility();
  if (isOutdated && !isFormResponse) {
    refreshSoon(0);
  }
  setInterval(() => {
    // Requests of applications cause no change event.
    if (main.querySelector("[data-awaiting]") !== null && !isFormResponse) {
      refreshSoon();
    }
  }, awaitingDelay);
  return () => units.hasUnsavedInput();
}

/** Returns the reason that the page is not updated. */
function lostReason(): string {
  return navigator.onLine ? "Pennon cannot be reached" : "You are offline";
}

/** Returns true if the server itself responds, and not a proxy in its place. */
async function isReachable(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(unreachableDelay);
    const request = { method: "HEAD", cache: "no-store", signal } as const;
    const { status } = await fetch("/dashboard/events", request);
    return status < 500;
  } catch {
    return false;
  }
}

/** Returns true if a response contains a page, including a 403 or 404 page, but not a server error. */
function isPage({ ok, status }: Response): boolean {
  return ok || status === 403 || status === 404;
}

/** Returns true if a change may affect the page at this path. */
function concerns({ action, flag, environment }: Change, path: string): boolean {
  const [, , section, id] = path.split("/");
  const isAboutAccounts = /^(USER|TOKEN|PASSWORD)_/.test(action);
  if (section === "people" || section === "account") {
    return isAboutAccounts;
  }
  if (section === "new-flag" || (isAboutAccounts && section !== "audit")) {
    return false;
  }
  if (section === "flags" && id !== undefined && flag !== undefined) {
    return decode(id) === flag;
  }
  if (section === "environments" && id !== undefined && environment !== undefined) {
    // A rotated key creates another environment.
    return id === environment || action === "SDK_KEY_ROTATED";
  }
  return true;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The names of a page's style and scripts, which differ between builds. */
function buildId(page: Document): string {
  const style = page.querySelector("link[rel=stylesheet]")?.getAttribute("href");
  const script = page.querySelector<HTMLScriptElement>("script[data-islands]");
  return [style, script?.getAttribute("src"), script?.dataset.islands].join();
}
