import { isTyping, on } from "./dom.ts";
import { undoLastChange } from "./messages.ts";
import { Palette } from "./palette.ts";

/** Handles the shortcuts that the help lists, and shows the button that opens the palette. */
export function listenToKeys(): void {
  const help = document.querySelector<HTMLDialogElement>("dialog#help-dialog");
  const dialog = document.querySelector<HTMLDialogElement>("dialog#palette");
  const palette = dialog && new Palette(dialog);
  const jump = document.getElementById("jump");
  if (jump !== null && palette !== null) {
    jump.addEventListener("click", () => palette.open());
    jump.dataset.ready = "true";
  }
  // A click on the backdrop closes the dialog.
  on("click", "#help-dialog, #palette", (each: HTMLDialogElement, { target }) => {
    if (target === each) {
      each.close();
    }
  });
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, isComposing } = event;
    const isJump = key.toLowerCase() === "k" && (ctrlKey || metaKey) && !altKey && !shiftKey;
    const isHelp = key === "?" && !isTyping();
    const isSearch = key === "/" && !ctrlKey && !metaKey && !isTyping();
    const isUndo = key.toLowerCase() === "z" && (ctrlKey || metaKey) && !altKey && !shiftKey;
    if (isUndo && canUndo()) {
      event.preventDefault();
      undoLastChange();
      return;
    }
    const search = isSearch && document.querySelector<HTMLInputElement>("main input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
      search.select();
      return;
    }
    if (isComposing || (!isJump && !isHelp)) {
      return;
    }
    event.preventDefault();
    if (document.querySelector("dialog[open]") !== null) {
      return;
    }
    if (isJump) {
      palette?.open();
    } else {
      help?.showModal();
    }
  });
}

/** Returns true if the shortcut can only mean the last change: nothing that was typed could be meant, or would be lost. */
function canUndo(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    "main form[method=post] :is(input:not([type=hidden]), textarea)",
  );
  const isEdited = [...fields].some(({ value, defaultValue }) => value !== defaultValue);
  return !isEdited && !isTyping() && document.querySelector("dialog[open]") === null;
}
