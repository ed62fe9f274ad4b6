import { on } from "./dom.ts";

/** Has the browser ask before a page is left that shows a key for the only time, unless its link says that the key is stored. */
export function askBeforeLeavingKey(): void {
  let isStored = false;
  on("click", "a[data-stored]", () => {
    isStored = true;
  });
  addEventListener("beforeunload", (event) => {
    if (!isStored && document.querySelector("a[data-stored]") !== null) {
      event.preventDefault();
    }
  });
}
