import { type FetchedPage, fetchPage, fieldsOf, on } from "./dom.ts";

/** The page to which the service redirects without a session. */
const signIn = "/dashboard/login";

/**
 * Opens the form of a linked page in the dialog that follows the link with `data-dialog`.
 *
 * The linked page marks the form with `data-form`. The dialog submits it to the same address as the page. The response
 * is either the same form with its errors, or the next page.
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
    // The page itself explains the error.
    location.href = link.href;
  }
}

async function send(dialog: HTMLDialogElement, form: HTMLFormElement): Promise<void> {
  const link = dialog.previousElementSibling as HTMLAnchorElement;
  const button = form.querySelector<HTMLButtonElement>("button:not([type=button])");
  // Prevents a second submission.
  button?.toggleAttribute("disabled", true);
  setUnreachable(dialog, false);
  const page = await fetchPage(link.href, { method: "POST", body: fieldsOf(form) });
  if (page !== undefined && show(dialog, page)) {
    focusFirst(dialog);
  } else if (page?.response.url.includes(signIn)) {
    // Submitted by the browser itself, the form goes to the sign-in page, which forwards it afterwards.
    form.action = link.href;
    form.method = "post";
    form.submit();
  } else if (page === undefined || page.response.url === link.href) {
    // No response, or the response of a proxy instead of the page.
    button?.toggleAttribute("disabled", false);
    setUnreachable(dialog, true);
  } else {
    location.href = page.response.url;
  }
}

/** Shows the form of a page in a dialog. Returns false if the page has none. */
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

function setUnreachable(dialog: HTMLDialogElement, isUnreachable: boolean): void {
  const text = "The service cannot be reached. What you typed is still here; try again.";
  dialog.querySelector("[role=alert]")?.replaceChildren(isUnreachable ? text : "");
}
