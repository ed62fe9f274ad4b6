// Runs in two contexts: in each page, and in the worker that all pages of a browser share.

import { connect } from "./connection.ts";
import { keepContext } from "./context.ts";
import { listenToCopying } from "./copy.ts";
import { openFormsInDialogs } from "./dialogs.ts";
import { prepareAnnouncements } from "./dom.ts";
import { listenToEnvironmentOrder } from "./environment-order.ts";
import { followFilters } from "./filters.ts";
import { checkFlagKeys } from "./flag-key.ts";
import { protectFormResponse } from "./form-response.ts";
import { Hub } from "./hub.ts";
import { hydrate } from "./islands.ts";
import { listenToKeys } from "./keys.ts";
import { askBeforeLeavingKey } from "./leave.ts";
import { listenToEvaluations } from "./live-evaluations.ts";
import { listenToMessages } from "./messages.ts";
import { keepUpToDate } from "./page.ts";
import { listenToPresets } from "./presets.ts";
import { followProduct } from "./product.ts";
import { listenToRuleOrder } from "./rule-order.ts";
import { keepPlaceInList } from "./scroll.ts";
import { listenToSelection } from "./selection.ts";
import { listenToSingleKeys } from "./single-keys.ts";
import { listenToSwitches } from "./switches.ts";
import { showCurrentTab } from "./tabs.ts";
import { listenToTheme } from "./theme.ts";
import { storeZone } from "./zone.ts";

if (typeof document === "undefined") {
  const hub = new Hub();
  addEventListener("connect", (event) => {
    const [port] = (event as MessageEvent).ports;
    if (port !== undefined) {
      const listener = (message: unknown) => port.postMessage(message);
      port.onmessage = ({ data }) => hub.setVisible(listener, data === true);
    }
  });
} else {
  prepareAnnouncements();
  const isInOtherZone = storeZone();
  const main = document.querySelector<HTMLElement>("main[data-rendered-at]");
  let hasUnsavedInput = () => false;
  if (main !== null) {
    if (main.dataset.renderedAt === "") {
      protectFormResponse();
    }
    // Records the page as the server rendered it, so it must run before anything changes the page.
    hasUnsavedInput = keepUpToDate(main, connect, isInOtherZone);
  }
  keepPlaceInList();
  listenToSingleKeys();
  listenToKeys(hasUnsavedInput);
  listenToSwitches();
  listenToMessages();
  listenToCopying();
  listenToTheme();
  listenToRuleOrder();
  listenToEnvironmentOrder();
  listenToPresets();
  listenToSelection();
  listenToEvaluations();
  followFilters();
  followProduct();
  openFormsInDialogs();
  checkFlagKeys();
  askBeforeLeavingKey();
  showCurrentTab();
  keepContext();
  // Reveals the elements that need this script.
  document.documentElement.dataset.scripts = "";
  void hydrate([document.body]).then(() => {
    document.documentElement.dataset.hydrated = "";
  });
}
