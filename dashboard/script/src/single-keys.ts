import { on } from "./dom.ts";
import { readItem, writeItem } from "./storage.ts";

const checkbox = "input[data-single-keys]";

/** The item of the browser's storage that says that shortcuts of a single key are off. */
const storageKey = "pennon-single-keys";
const off = "off";

/**
 * Lets the visitor turn shortcuts of a single key off, because speech input and shaking hands press keys by accident.
 */
export function listenToSingleKeys(): void {
  apply(readItem("localStorage", storageKey) === off);
  on("change", checkbox, ({ checked }: HTMLInputElement) => {
    apply(!checked);
    writeItem("localStorage", storageKey, checked ? null : off);
  });
}

/** Returns true unless the visitor has turned them off. */
export function hasSingleKeys(): boolean {
  return document.documentElement.dataset.singleKeys !== off;
}

function apply(isOff: boolean): void {
  document.documentElement.dataset.singleKeys = isOff ? off : "on";
  for (const each of document.querySelectorAll<HTMLInputElement>(checkbox)) {
    each.checked = !isOff;
  }
}
