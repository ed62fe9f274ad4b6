import { undoAddress } from "./addresses.ts";
import { on, restoreFocus } from "./dom.ts";
import { unmarked } from "./form-response.ts";

/** The time for which a message stays visible, in milliseconds. */
const messageDuration = 10_000;

/** The element that had the focus before a message got it. */
let focusedBefore: HTMLElement | undefined;

/** Makes the message about the user's last change, which the server rendered, disappear like others. */
export function listenToMessages(): void {
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement && target.matches("main :not(.toast *)")) {
      focusedBefore = target;
    }
  });
  const message = document.querySelector<HTMLElement>(".toast[data-undo]");
  if (message !== null) {
    closeLater(message);
  }
  on("click", ".toast [data-close]", closeMessage);
}

/** Undoes the user's last change, and shows this page again. A second call before that does nothing. */
export function undoLastChange(): void {
  const form = document.querySelector<HTMLFormElement>(".toast[data-undo] form, form.undo");
  // While a form is being submitted, the page prevents that it is submitted again.
  (form ?? addUndoForm()).requestSubmit();
}

function addUndoForm(): HTMLFormElement {
  const form = document.createElement("form");
  form.className = "undo";
  form.method = "post";
  form.action = unmarked(`${undoAddress}${location.search}`);
  const back = document.createElement("input");
  back.name = "back";
  back.value = location.pathname + location.search;
  form.append(back);
  form.hidden = true;
  document.body.append(form);
  return form;
}

/** Closes the message that is visible. If it has the focus, returns that to the element that had it before. */
export function closeMessage(): void {
  for (const message of document.querySelectorAll(".toasts .toast")) {
    const hasFocus = message.contains(document.activeElement);
    message.remove();
    if (hasFocus) {
      restoreFocus(focusedBefore);
    }
  }
}

/** Shows a message in place of the previous one. It disappears after `messageDuration`, unless it reports a refusal. */
export function showMessage(
  content: string | DocumentFragment,
  { undo, isRefusal = false }: { undo?: (() => void) | undefined; isRefusal?: boolean },
): void {
  closeMessage();
  const box = document.querySelector("main .toasts");
  const template = box?.querySelector("template")?.content.firstElementChild;
  const message = template?.cloneNode(true) as HTMLElement | undefined;
  const undoButton = message?.querySelector<HTMLButtonElement>("[data-undo-button]");
  if (!box || !message || !undoButton) {
    return;
  }
  message.querySelector("p")?.append(content);
  if (undo === undefined) {
    undoButton.remove();
  } else {
    undoButton.onclick = undo;
  }
  if (isRefusal) {
    message.classList.add("danger");
    message.role = "alert";
  } else {
    closeLater(message);
  }
  box.append(message);
}

/** Closes a message after `messageDuration`, but not while it has the focus or is under the pointer. */
function closeLater(message: HTMLElement): void {
  setTimeout(() => {
    if (message.querySelector(":hover, :focus-visible") === null) {
      message.remove();
    } else {
      closeLater(message);
    }
  }, messageDuration);
}
