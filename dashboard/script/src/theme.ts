import { on, post } from "./dom.ts";

/** Applies a selected theme at once, and stores it in a cookie through the server. */
export function listenToTheme(): void {
  on("submit", ".theme-form", (form: HTMLFormElement, event) => {
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement)) {
      return;
    }
    event.preventDefault();
    document.documentElement.dataset.theme = button.value;
    for (const each of form.querySelectorAll("button")) {
      each.ariaPressed = String(each === button);
    }
    // A theme that could not be stored applies to this page only.
    void post(form.action, { theme: button.value }).catch(() => undefined);
  });
}
