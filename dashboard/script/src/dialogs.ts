import { signInAddress } from "./addresses.ts";
import { type FetchedPage, fetchPage, fieldsOf, on } from "./dom.ts";

const unreachable = "Pennon cannot be reached. What you typed is still here; try again.";

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
      void send(dialog, form, (event as SubmitEvent).submitter);
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
  } else {
    // The page itself explains the error.
    location.href = link.href;
  }
}

async function send(
  dialog: HTMLDialogElement,
  form: HTMLFormElement,
  submitter: HTMLElement | null,
): Promise<void> {
  // A disabled button has no value, so this comes first.
  const body = fieldsOf(form, submitter);
  const button = form.querySelector<HTMLButtonElement>("button:not([type=button])");
  // Prevents a second submission.
  button?.toggleAttribute("disabled", true);
  setAlert(dialog, "");
  const page = await fetchPage(form.action, { method: "POST", body });
  if (page !== undefined && show(dialog, page)) {
    focusFirst(dialog);
  } else if (page?.response.url.includes(signInAddress)) {
    // Submitted by the browser itself, the form goes to the sign-in page, which forwards it afterwards.
    form.submit();
  } else if (page === undefined || page.response.url === form.action) {
    button?.toggleAttribute("disabled", false);
    setAlert(dialog, errorOf(page) || unreachable);
  } else {
    location.href = page.response.url;
  }
}

/** Shows the form of a page in a dialog. Returns false if the page has none. */
function show(dialog: HTMLDialogElement, { document: page, response }: FetchedPage): boolean {
  const form = page.querySelector<HTMLFormElement>("form[data-form]");
  if (form === null) {
    return false;
  }
  // An update may remove the link from the page while the dialog is open.
  form.action = response.url;
  dialog.querySelector(".dialog-content")?.replaceChildren(form);
  return true;
}

function focusFirst(dialog: HTMLDialogElement): void {
  dialog.querySelector<HTMLElement>(".dialog-content [autofocus]")?.focus();
}

/** Returns the error of a page of the server, if this is one: a proxy may have sent its own page instead. */
function errorOf(page: FetchedPage | undefined): string | null | undefined {
  return page?.document.querySelector("main[data-rendered-at] [role=alert]")?.textContent;
}

function setAlert(dialog: HTMLDialogElement, text: string): void {
  dialog.querySelector("[role=alert]")?.replaceChildren(text);
}
