import { Bars } from "./bars.ts";
import type { Look } from "./connection.ts";
import { fetchPage, on } from "./dom.ts";
import type { Change, Listener } from "./hub.ts";
import { Swap } from "./swap.ts";
import { ownRequests } from "./switches.ts";

/** The delay after the last change before the page is fetched, in milliseconds. */
const gathering = 250;
/** The time for which the server may be unreachable before a bar reports it, in milliseconds. */
const grace = 3_000;
/** The maximum time from the timestamp of a change until pages include it, in milliseconds. */
const moment = 1_000;

/** The delay before the next attempt when the server cannot render the page, in milliseconds. */
const pause = 5_000;

/** The time within which a submitted form must lead to another page, in milliseconds. */
const submitTimeout = 10_000;

/** Applies the changes of others to the page without reloading it, and reports when that is not possible. */
export function keepUpToDate(
  main: HTMLElement,
  hear: (listener: Listener) => Look,
  isOutdated: boolean,
): void {
  const bars = new Bars();
  const swap = new Swap(main);
  // The response to a form cannot be fetched again: its address returns another page.
  const isAnswer = main.dataset.drawn === "";
  let drawn = Number(main.dataset.drawn);
  let last: Change | undefined;
  let isDue = false;
  let isAsking = false;
  let leaving: ReturnType<typeof setTimeout> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;

  const look = hear((word) => {
    if (word.kind === "lost") {
      silence ??= setTimeout(
        () => bars.show("lost", "Pennon cannot be reached. This page may be out of date."),
        grace,
      );
      return;
    }
    clearTimeout(silence);
    silence = undefined;
    bars.hide("lost");
    if (word.kind === "ended") {
      const text = "Your session has ended. What you typed is still here.";
      bars.show("ended", text, { href: "/dashboard/login", text: "Sign in in another tab" });
      return;
    }
    bars.hide("ended");
    const at = word.kind === "position" ? word.at : word.change.at;
    if (isAnswer || at + moment < drawn) {
      return;
    }
    if (word.kind === "position") {
      refreshSoon();
    } else if (concerns(word.change, location.pathname)) {
      last = word.change;
      refreshSoon();
    }
  });

  function refreshSoon(delay = gathering): void {
    isDue = true;
    clearTimeout(timer);
    timer = setTimeout(refresh, delay);
  }

  async function refresh(): Promise<void> {
    if (!isDue || isAsking || leaving !== undefined || document.visibilityState === "hidden") {
      return;
    }
    isDue = false;
    isAsking = true;
    let again: number | undefined;
    try {
      again = await ask();
    } finally {
      isAsking = false;
    }
    if (again === undefined) {
      refreshIfDue();
    } else {
      refreshSoon(again);
    }
  }

  function refreshIfDue(): void {
    if (isDue) {
      refreshSoon();
    }
  }

  /** Updates the page. Returns the delay before the next attempt if it is not up to date yet. */
  async function ask(): Promise<number | undefined> {
    const { href } = location;
    const change = last;
    const page = await fetchPage(href, { cache: "no-store" });
    if (page?.answer.redirected) {
      return undefined;
    }
    if (page === undefined || !isPage(page.answer)) {
      return pause;
    }
    const fresh = page.document;
    const freshMain = fresh.querySelector<HTMLElement>("main[data-drawn]");
    if (freshMain === null) {
      return undefined;
    }
    if (location.href !== href) {
      // The user's input has changed the address in the meantime.
      return gathering;
    }
    if (build(fresh) !== build(document)) {
      bars.show("build", "Pennon has been updated.", { href, text: "Reload" });
      return undefined;
    }
    const kept = swap.to(freshMain);
    drawn = Number(freshMain.dataset.drawn);
    document.title = fresh.title;
    if (last === change) {
      last = undefined;
    }
    if (kept === "typed" && !ownRequests.has(change?.request ?? "")) {
      // A change from before the stream was open has no event.
      const what = change === undefined ? "This page changed" : `${change.by} ${change.what}`;
      const text = `${what} while you were editing. What you typed is still here.`;
      bars.show("overtaken", text, { href, text: "Reload to see the change" });
    }
    return undefined;
  }

  function stay(): void {
    clearTimeout(leaving);
    leaving = undefined;
    refreshIfDue();
  }

  document.addEventListener("focusout", () => {
    if (swap.isBehind) {
      refreshSoon();
    }
  });
  // A form that navigates to another page causes a change event, too. No refresh until then, because the object of this
  // page may no longer exist.
  addEventListener("submit", (event) => {
    setTimeout(() => {
      const leads = event.target instanceof HTMLFormElement && event.target.method !== "dialog";
      if (leads && !event.defaultPrevented) {
        clearTimeout(leaving);
        leaving = setTimeout(stay, submitTimeout);
      }
    });
  });
  // A link inside a form, such as "Cancel", discards its input.
  on("click", "main form a[href]", (link) => {
    const form = link.closest("form");
    if (form !== null) {
      swap.discard(form);
    }
  });
  addEventListener("beforeunload", (event) => {
    if (swap.hasTyped && leaving === undefined) {
      event.preventDefault();
    }
  });
  const say = () => {
    look(document.visibilityState === "visible");
    refreshIfDue();
  };
  document.addEventListener("visibilitychange", say);
  addEventListener("pageshow", () => {
    stay();
    say();
  });
  addEventListener("pagehide", () => look(false));
  say();
  if (isOutdated && !isAnswer) {
    refreshSoon(0);
  }
}

/** Returns true if a response contains a page, including a 403 or 404 page, but not a server error. */
function isPage({ ok, status }: Response): boolean {
  return ok || status === 403 || status === 404;
}

/** Returns true if a change may affect the page at this path. */
function concerns({ action, flag, environment }: Change, path: string): boolean {
  const [, , section, thing] = path.split("/");
  const isAboutAccounts = /^(USER|TOKEN|PASSWORD)_/.test(action);
  if (section === "people" || section === "account") {
    return isAboutAccounts;
  }
  if (section === "new-flag" || (isAboutAccounts && section !== "audit")) {
    return false;
  }
  if (section === "flags" && thing !== undefined && flag !== undefined) {
    return decoded(thing) === flag;
  }
  if (section === "environments" && thing !== undefined && environment !== undefined) {
    // A rotated key creates another environment.
    return thing === environment || action === "SDK_KEY_ROTATED";
  }
  return true;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The names of a page's style and scripts, which differ between builds. */
function build(page: Document): string {
  const style = page.querySelector("link[rel=stylesheet]")?.getAttribute("href");
  const script = page.querySelector<HTMLScriptElement>("script[data-islands]");
  return [style, script?.getAttribute("src"), script?.dataset.islands].join();
}
