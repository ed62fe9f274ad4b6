import { closest } from "./dom.ts";

/** Recolors the page at once when a theme is chosen, and has the server remember it in a cookie. */
export function listenToTheme(): void {
  document.addEventListener("submit", (event) => {
    const form = closest<HTMLFormElement>(event, ".theme-form");
    const button = event.submitter;
    if (form === null || !(button instanceof HTMLButtonElement)) {
      return;
    }
    event.preventDefault();
    document.documentElement.dataset.theme = button.value;
    for (const each of form.querySelectorAll("button")) {
      each.ariaPressed = String(each === button);
    }
    const body = new URLSearchParams({ theme: button.value });
    const headers = { accept: "application/json" };
    // A theme that is not remembered is that of this page only.
    void fetch(form.action, { method: "POST", headers, body }).catch(() => undefined);
  });
}
