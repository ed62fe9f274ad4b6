// One file, run twice: by each page, and by the worker that all pages of a browser share.

import { carryCase } from "./carry.ts";
import { hear } from "./connection.ts";
import { listenToCopying } from "./copy.ts";
import { openFormsInDialogs } from "./dialogs.ts";
import { prepareAnnouncements } from "./dom.ts";
import { followFilters } from "./filters.ts";
import { checkFlagKeys } from "./flag-key.ts";
import { Hub } from "./hub.ts";
import { hydrate } from "./islands.ts";
import { listenToKeys } from "./keys.ts";
import { askBeforeLeavingKey } from "./leave.ts";
import { keepUpToDate } from "./page.ts";
import { listenToRuleOrder } from "./rule-order.ts";
import { listenToSwitches } from "./switches.ts";
import { listenToTheme } from "./theme.ts";
import { tellZone } from "./zone.ts";

if (typeof document === "undefined") {
  const hub = new Hub();
  addEventListener("connect", (event) => {
    const [port] = (event as MessageEvent).ports;
    if (port !== undefined) {
      const listener = (word: unknown) => port.postMessage(word);
      port.onmessage = ({ data }) => hub.look(listener, data === true);
    }
  });
} else {
  prepareAnnouncements();
  const isInOtherZone = tellZone();
  const main = document.querySelector<HTMLElement>("main[data-drawn]");
  if (main !== null) {
    // It notes how the server drew the page, so it comes before all that changes it.
    keepUpToDate(main, hear, isInOtherZone);
  }
  listenToKeys();
  listenToSwitches();
  listenToCopying();
  listenToTheme();
  listenToRuleOrder();
  followFilters();
  openFormsInDialogs();
  checkFlagKeys();
  askBeforeLeavingKey();
  carryCase();
  // Shows what can do nothing without this script.
  document.documentElement.dataset.scripts = "";
  void hydrate([document.body]);
}
