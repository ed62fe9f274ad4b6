import { Bars } from "./bars.ts";
import type { Look } from "./connection.ts";
import { fetchPage, on } from "./dom.ts";
import type { Change, Listener } from "./hub.ts";
import { Swap } from "./swap.ts";
import { ownRequests } from "./switches.ts";

/** How long changes are gathered before the page is asked for. */
const gathering = 250;
/** How long the server may be away before it is worth a word. */
const grace = 3_000;
/** A change happens a moment before others can see it: the page may have been drawn in between. */
const moment = 1_000;

/** How long to wait for a server that cannot draw the page. */
const pause = 5_000;

/** How long a form that was sent may take to lead to another page. */
const submitTimeout = 10_000;

/** Shows what others change on the page without loading it anew, and says when that cannot be done. */
export function keepUpToDate(
  main: HTMLElement,
  hear: (listener: Listener) => Look,
  isOutdated: boolean,
): void {
  const bars = new Bars();
  const swap = new Swap(main);
  // Asked for by its address, an answer to a form is another page.
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
        () => bars.show("lost", "Pennon cannot be reached. What you see may be out of date."),
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

  /** Brings the page up to date; if it is not yet, answers after how long to try again. */
  async function ask(): Promise<number | undefined> {
    const { href } = location;
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
      // What one typed meanwhile has made another page of it.
      return gathering;
    }
    if (build(fresh) !== build(document)) {
      bars.show("build", "Pennon has been updated.", { href, text: "Reload" });
      return undefined;
    }
    const kept = swap.to(freshMain);
    drawn = Number(freshMain.dataset.drawn);
    document.title = fresh.title;
    if (kept === "typed" && last !== undefined && !ownRequests.has(last.request ?? "")) {
      const text = `${last.by} ${last.what} while you were editing. What you typed is still here.`;
      bars.show("overtaken", text, { href, text: "Reload to see it" });
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
  // What a form does that leads away is news too, and what this page shows may be gone by then.
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

/** Whether an answer shows a page, be it one of a refusal, and not that the server is unwell. */
function isPage({ ok, status }: Response): boolean {
  return ok || status === 403 || status === 404;
}

/** Whether a page at this path may look different after a change. */
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
    // A new key makes another environment of it.
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

/** The names of the styles and scripts of a page, by which builds differ. */
function build(page: Document): string {
  const style = page.querySelector("link[rel=stylesheet]")?.getAttribute("href");
  const script = page.querySelector<HTMLScriptElement>("script[data-islands]");
  return [style, script?.getAttribute("src"), script?.dataset.islands].join();
}
