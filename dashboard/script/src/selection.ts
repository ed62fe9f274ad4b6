import { on } from "./dom.ts";

/** The boxes that select the flags of the list. */
const boxes = "input[form=selection][type=checkbox]";

/** Selects all flags of the page with one box, and shows how many are selected. */
export function listenToSelection(): void {
  on("change", "[data-select-all]", (all: HTMLInputElement) => {
    for (const box of document.querySelectorAll<HTMLInputElement>(boxes)) {
      box.checked = all.checked;
    }
    showCount();
  });
  on("change", boxes, showCount);
}

function showCount(): void {
  const all = document.querySelectorAll(boxes).length;
  const selected = document.querySelectorAll(`${boxes}:checked`).length;
  const count = document.querySelector("[data-selected-count]");
  if (count !== null) {
    count.textContent = selected === 1 ? "1 flag selected" : `${selected} flags selected`;
  }
  for (const box of document.querySelectorAll<HTMLInputElement>("[data-select-all]")) {
    box.checked = selected === all && all > 0;
    box.indeterminate = selected > 0 && selected < all;
  }
}
