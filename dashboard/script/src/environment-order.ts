import { dragByHandle } from "./drag.ts";

/** Moves environments by their handles within their product, and saves the order when a handle is released. */
export function listenToEnvironmentOrder(): void {
  let original = "";
  dragByHandle({
    items: "[data-environment]",
    onStart({ parentElement: list }) {
      // Protects the list from updates until the order is saved.
      list?.setAttribute("data-unsaved", "");
      original = orderOf(list);
    },
    onEnd({ parentElement: list }) {
      const form = list?.querySelector("form");
      const field = form?.querySelector<HTMLInputElement>("[name=order]");
      if (form && field && orderOf(list) !== original) {
        field.value = orderOf(list);
        form.requestSubmit();
      } else {
        list?.removeAttribute("data-unsaved");
      }
    },
  });
}

/** Returns the ids of the environments of a product in their current order. */
function orderOf(list: HTMLElement | null): string {
  const rows = list?.querySelectorAll<HTMLElement>("[data-environment]");
  return [...(rows ?? [])].map((row) => row.dataset.environment).join(" ");
}
