import { on } from "./dom.ts";

/** Requires a confirmation to leave a page that shows a key once, unless the link states that the key is stored. */
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
