// Pages that respond to a form: reloading such a page, or going back to it, must not send the form again.

import { on } from "./dom.ts";

/** The parameter that marks the address of a page that responds to a form. The server redirects from a marked address. */
const mark = "answered";

/**
 * Prevents the browser from sending the form of this page again when it reloads the page or goes back to it.
 *
 * The new entry in the history has no form, so other browsers request the page. WebKit reloads with the form all the
 * same, but at the address of the new entry.
 */
export function protectFormResponse(): void {
  const address = new URL(location.href);
  address.searchParams.set(mark, "yes");
  history.replaceState(history.state, "", address);
  on("submit", "form[method=post]", (form: HTMLFormElement) => {
    form.action = unmarked(form.action);
  });
}

/** Returns an address without the mark, which it may have from the address of this page. */
export function unmarked(address: string): string {
  const url = new URL(address, location.href);
  url.searchParams.delete(mark);
  return url.href;
}
