import { readItem, writeItem } from "./storage.ts";

/** The list of flags scrolls by itself. Browsers restore only the position of the page. */
const list = ".flags-panel";

/** The prefix of the items of the tab's storage with the position of the list, by address. */
const storageKey = "pennon-scroll";

/** Keeps the place in the list of flags when the user reloads the page, or leaves it and goes back. */
export function keepPlaceInList(): void {
  const [navigation] = performance.getEntriesByType("navigation");
  if (navigation instanceof PerformanceNavigationTiming && navigation.type !== "navigate") {
    restore();
  }
  addEventListener("pagehide", store);
}

function restore(): void {
  const position = readItem("sessionStorage", `${storageKey} ${location.href}`);
  const [left = 0, top = 0] = position?.split(" ").map(Number) ?? [];
  document.querySelector(list)?.scrollTo(left, top);
}

function store(): void {
  const element = document.querySelector(list);
  if (element !== null) {
    const position = `${element.scrollLeft} ${element.scrollTop}`;
    writeItem("sessionStorage", `${storageKey} ${location.href}`, position);
  }
}
