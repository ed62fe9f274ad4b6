import { on, post } from "./dom.ts";

/** Recolors the page at once when a theme is chosen, and has the server remember it in a cookie. */
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
    // A theme that is not remembered is that of this page only.
    void post(form.action, { theme: button.value }).catch(() => undefined);
  });
}
