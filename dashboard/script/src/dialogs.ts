import { type FetchedPage, fetchPage, fieldsOf, on } from "./dom.ts";

/** The page to which the service leads who is not signed in any more. */
const signIn = "/dashboard/login";

/**
 * Opens the form of the page that a link with `data-dialog` leads to in the dialog after the link.
 *
 * The form is the one that the page marks with `data-form`. It is sent where the page would send it; what comes back is
 * either the same form with what was wrong, or the page to go on to.
 */
export function openFormsInDialogs(): void {
  on("click", "a[data-dialog]", (link: HTMLAnchorElement, event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      void open(link);
    }
  });
  on("click", ".form-dialog [data-cancel]", (cancel, event) => {
    event.preventDefault();
    cancel.closest("dialog")?.close();
  });
  on("submit", ".form-dialog form[data-form]", (form: HTMLFormElement, event) => {
    const dialog = form.closest("dialog");
    if (dialog !== null) {
      event.preventDefault();
      void send(dialog, form);
    }
  });
}

async function open(link: HTMLAnchorElement): Promise<void> {
  const dialog = link.nextElementSibling;
  if (!(dialog instanceof HTMLDialogElement) || link.ariaBusy === "true") {
    return;
  }
  link.ariaBusy = "true";
  const page = await fetchPage(link.href);
  link.ariaBusy = null;
  if (page !== undefined && show(dialog, page)) {
    dialog.showModal();
    focusFirst(dialog);
  } else {
    // The page itself says what is the matter.
    location.href = link.href;
  }
}

async function send(dialog: HTMLDialogElement, form: HTMLFormElement): Promise<void> {
  const link = dialog.previousElementSibling as HTMLAnchorElement;
  const button = form.querySelector<HTMLButtonElement>("button:not([type=button])");
  // Nobody sends it twice.
  button?.toggleAttribute("disabled", true);
  sayLost(dialog, false);
  const page = await fetchPage(link.href, { method: "POST", body: fieldsOf(form) });
  if (page !== undefined && show(dialog, page)) {
    focusFirst(dialog);
  } else if (page?.answer.url.includes(signIn)) {
    // Sent by the browser itself, the form comes along to the sign-in and is sent on from there.
    form.action = link.href;
    form.method = "post";
    form.submit();
  } else if (page === undefined || page.answer.url === link.href) {
    // Nothing has answered, or something on the way and not the page.
    button?.toggleAttribute("disabled", false);
    sayLost(dialog, true);
  } else {
    location.href = page.answer.url;
  }
}

/** Shows the form of a page in a dialog; false if the page has none. */
function show(dialog: HTMLDialogElement, { document: page }: FetchedPage): boolean {
  const form = page.querySelector("form[data-form]");
  if (form === null) {
    return false;
  }
  dialog.querySelector(".dialog-place")?.replaceChildren(form);
  return true;
}

function focusFirst(dialog: HTMLDialogElement): void {
  dialog.querySelector<HTMLElement>(".dialog-place [autofocus]")?.focus();
}

function sayLost(dialog: HTMLDialogElement, isLost: boolean): void {
  const text = "The service cannot be reached. What you typed is still here; try again.";
  dialog.querySelector("[role=alert]")?.replaceChildren(isLost ? text : "");
}
