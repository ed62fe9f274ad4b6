import { Bars } from "./bars.ts";
import type { SetVisible } from "./connection.ts";
import { ConnectionBars, isReachable } from "./connection-bars.ts";
import { on } from "./dom.ts";
import type { HubMessage, Listener } from "./hub.ts";
import { Pointer } from "./pointer.ts";
import { Refresher } from "./refresher.ts";
import { Submission } from "./submission.ts";
import { switchSettled } from "./switches.ts";
import { Units } from "./units.ts";

/** The delay between two looks for requests of applications, in milliseconds. They cause no change event. */
const pollDelay = 3_000;

/**
 * Applies the changes of others to the page without reloading it, and reports when that is not possible. Returns a
 * function that returns true if the page has unsaved input.
 */
export function keepUpToDate(
  main: HTMLElement,
  connect: (listener: Listener) => SetVisible,
  isOutdated: boolean,
): () => boolean {
  const units = new Units(main);
  const bars = new Bars();
  const connection = new ConnectionBars(bars, main);
  const pointer = new Pointer(main, units);
  const refresher = new Refresher(main, units, bars, connection, pointer);
  const submission = new Submission(refresher);
  const setVisible = connect((message) => receive(message, connection, refresher));

  listenToSubmits(units, connection, submission);
  // A link inside a form, such as "Cancel", discards its input, unless it opens another tab.
  on("click", "main form a[href]", (link: HTMLAnchorElement, { ctrlKey, metaKey, shiftKey }) => {
    const form = link.closest("form");
    const leavesPage = !ctrlKey && !metaKey && !shiftKey && link.target !== "_blank";
    if (form !== null && leavesPage) {
      units.discard(form);
    }
  });
  addEventListener("beforeunload", (event) => {
    if (units.hasUnsavedInput(submission.part)) {
      event.preventDefault();
    }
  });

  document.addEventListener("focusout", () => refresher.refreshIfBehind());
  document.addEventListener("pointerover", ({ target }) => {
    if (pointer.controlOf(target) === null) {
      refresher.refreshIfWaiting();
    }
  });
  document.addEventListener(switchSettled, (event) => {
    // Updates skip a switch that waits for its answer. The answer may be lost, or older than the last update.
    refresher.addSwitch((event as CustomEvent<boolean>).detail);
  });
  const reportVisibility = () => {
    setVisible(document.visibilityState === "visible");
    refresher.refreshIfDue();
  };
  document.addEventListener("visibilitychange", reportVisibility);
  addEventListener("pagehide", () => setVisible(false));
  addEventListener("pageshow", ({ persisted }) => {
    submission.cancel();
    reportVisibility();
    if (persisted && !refresher.isFormResponse) {
      void reloadIfReachable(main, submission);
    }
  });
  addEventListener("offline", () => connection.showLost());
  addEventListener("online", () => {
    // The stream may have survived the interruption, or still be broken.
    if (!connection.isStreamLost) {
      connection.hideLost();
      refresher.refreshSoon();
    }
  });
  reportVisibility();
  if (isOutdated) {
    refresher.refreshSoon(0);
  }
  setInterval(() => {
    if (main.querySelector("[data-awaiting]") !== null) {
      refresher.refreshSoon();
    } else if (!connection.isLost) {
      refresher.refreshIfOld();
    }
  }, pollDelay);
  return () => units.hasUnsavedInput();
}

function receive(message: HubMessage, connection: ConnectionBars, refresher: Refresher): void {
  if (message.kind === "lost") {
    connection.showLostLater();
    return;
  }
  connection.hideLost();
  if (message.kind === "ended") {
    connection.showEnded();
    return;
  }
  connection.hideEnded();
  if (message.kind === "position") {
    refresher.catchUp(message.at);
  } else {
    refresher.add(message.change);
  }
}

/** Keeps input while the server cannot be reached, and the page as it is while its form is being submitted. */
function listenToSubmits(units: Units, connection: ConnectionBars, submission: Submission): void {
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
    if (form === submission.part) {
      // The browser would drop the response to the first request, which may show a new key or password.
      event.preventDefault();
    } else if (connection.isLost) {
      // Without a server, the browser would replace the page and the input by its own error.
      event.preventDefault();
      void submitIfReachable(form, event.submitter, connection);
    }
  });
  // A form that navigates to another page causes a change event, too. No refresh until then, because the object of this
  // page may no longer exist.
  addEventListener("submit", (event) => {
    setTimeout(() => {
      const form = event.target;
      const isNavigation = form instanceof HTMLFormElement && form.method !== "dialog";
      if (isNavigation && !event.defaultPrevented) {
        submission.begin(form, event.submitter);
      }
    });
  });
}

/** Submits a form if the server responds although the stream does not. Otherwise, the page keeps the input. */
async function submitIfReachable(
  form: HTMLFormElement,
  submitter: HTMLElement | null,
  connection: ConnectionBars,
): Promise<void> {
  if (await isReachable()) {
    connection.hideLost();
    form.requestSubmit(submitter);
  } else {
    connection.showUnsent();
  }
}

/** Reloads a page that the browser has kept: WebKit resets some of its fields, but not their results on the page. */
async function reloadIfReachable(main: HTMLElement, submission: Submission): Promise<void> {
  if (await isReachable()) {
    submission.begin(main);
    location.reload();
  }
}
