import { on } from "./dom.ts";

/** Moves environments by their handles within their product, and saves the order when a handle is released. */
export function listenToEnvironmentOrder(): void {
  let dragged: HTMLElement | null = null;
  let original = "";

  on("pointerdown", "[data-environment] .handle", (handle, event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    dragged = handle.closest<HTMLElement>("[data-environment]");
    dragged?.setAttribute("data-dragged", "");
    // Protects the list from updates until the order is saved.
    dragged?.parentElement?.setAttribute("data-unsaved", "");
    original = orderOf(dragged);
  });
  document.addEventListener("pointermove", ({ clientY }) => {
    const above = dragged?.previousElementSibling;
    const below = dragged?.nextElementSibling;
    if (dragged && above?.hasAttribute("data-environment") && clientY < middleOf(above)) {
      above.before(dragged);
    } else if (dragged && below && clientY > middleOf(below)) {
      below.after(dragged);
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => {
      const form = dragged?.parentElement?.querySelector("form");
      const field = form?.querySelector<HTMLInputElement>("[name=order]");
      dragged?.removeAttribute("data-dragged");
      if (form && field && orderOf(dragged) !== original) {
        field.value = orderOf(dragged);
        form.requestSubmit();
      } else {
        dragged?.parentElement?.removeAttribute("data-unsaved");
      }
      dragged = null;
    });
  }
}

/** Returns the ids of the environments of a product in their current order. */
function orderOf(environment: HTMLElement | null): string {
  const rows = environment?.parentElement?.querySelectorAll<HTMLElement>("[data-environment]");
  return [...(rows ?? [])].map((row) => row.dataset.environment).join(" ");
}

function middleOf(row: Element): number {
  const { top, height } = row.getBoundingClientRect();
  return top + height / 2;
}
