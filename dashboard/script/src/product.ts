import { on } from "./dom.ts";

const switcher = ".product-switcher";

/** Opens the section for another product as soon as it is chosen. Without scripts, a button submits the form. */
export function followProduct(): void {
  on("change", switcher, (form: HTMLFormElement) => {
    form.requestSubmit();
  });
  // A page that the browser has kept would show the product that was chosen before leaving it.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) {
      document.querySelector<HTMLFormElement>(switcher)?.reset();
    }
  });
}
