// One file, run twice: by each page, and by the worker that all pages of a browser share.

import { carryCase } from "./carry.ts";
import { hear } from "./connection.ts";
import { Hub } from "./hub.ts";
import { listenToKeys } from "./keys.ts";
import { keepUpToDate } from "./page.ts";
import { listenToSwitches } from "./switches.ts";
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
  const isInOtherZone = tellZone();
  const main = document.querySelector<HTMLElement>("main[data-drawn]");
  if (main !== null) {
    keepUpToDate(main, hear, isInOtherZone);
    listenToKeys();
    listenToSwitches();
    carryCase();
  }
}
