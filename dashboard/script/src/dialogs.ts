import { closest, type FetchedPage, fetchPage, fieldsOf } from "./dom.ts";

/** The page to which the service leads who is not signed in any more. */
const signIn = "/dashboard/login";

/**
 * Opens the form of the page that a link with `data-dialog` leads to in the dialog after the link.
 *
 * The form is the one that the page marks with `data-form`. It is sent where the page would send it; what comes back is
 * either the same form with what was wrong, or the page to go on to.
 */
export function openFormsInDialogs(): void {
  document.addEventListener("click", (event) => {
    const link = closest<HTMLAnchorElement>(event, "a[data-dialog]");
    const dialog = closest<HTMLDialogElement>(event, ".form-dialog");
    if (link !== null && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      void open(link);
    } else if (dialog !== null && closest(event, "[data-cancel]") !== null) {
      event.preventDefault();
      dialog.close();
    }
  });
  document.addEventListener("submit", (event) => {
    const dialog = closest<HTMLDialogElement>(event, ".form-dialog");
    const form = closest<HTMLFormElement>(event, "form[data-form]");
    if (dialog !== null && form !== null) {
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
  setBusy(button, true);
  sayLost(dialog, false);
  const page = await fetchPage(link.href, { method: "POST", body: fieldsOf(form) });
  if (page !== undefined && show(dialog, page)) {
    focusFirst(dialog);
  } else if (page?.url.includes(signIn)) {
    // Sent by the browser itself, the form comes along to the sign-in and is sent on from there.
    form.action = link.href;
    form.method = "post";
    form.submit();
  } else if (page === undefined || page.url === link.href) {
    // Nothing has answered, or something on the way and not the page.
    setBusy(button, false);
    sayLost(dialog, true);
  } else {
    location.href = page.url;
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

/** Has a form wait for an answer, so that nobody sends it twice. */
function setBusy(button: HTMLButtonElement | null, isBusy: boolean): void {
  if (button !== null) {
    button.disabled = isBusy;
  }
}

function sayLost(dialog: HTMLDialogElement, isLost: boolean): void {
  const hint = dialog.querySelector("[role=alert]");
  if (hint !== null) {
    hint.textContent = isLost
      ? "The service cannot be reached. What you typed is still here; try again."
      : "";
  }
}
