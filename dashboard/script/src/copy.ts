import { announce, on, setCookie } from "./dom.ts";

/** The time for which a button confirms the copy, in milliseconds. */
const confirmationDuration = 2_000;

/** Copies the text of a button with `data-copy`. Without scripts, such buttons are hidden. */
export function listenToCopying(): void {
  on("click", "[data-copy]", (button) => void copyFrom(button));
  on("click", ".new-key .secret [data-copy], a[data-stored]", rememberKey);
}

/** Remembers that a key was copied or stored, for the list of first steps. */
function rememberKey(): void {
  setCookie("pennon_stored_key", "1");
}

async function copyFrom(button: HTMLElement): Promise<void> {
  const { copy = "", copied = "Copied" } = button.dataset;
  // A second click must not take the confirmation for the label.
  if ((await copyText(copy)) && button.dataset.isCopied === undefined) {
    const label = button.querySelector(".copy-word");
    const original = label?.textContent ?? "";
    label?.replaceChildren("Copied");
    button.dataset.isCopied = "";
    announce(copied);
    setTimeout(() => {
      label?.replaceChildren(original);
      delete button.dataset.isCopied;
      announce("");
    }, confirmationDuration);
  }
}

/**
 * Copies a text to the clipboard. Returns false if that is not possible.
 *
 * The Clipboard API exists on secure origins only. On others, such as `http://flags.internal`, this selects the text
 * and runs the browser's copy command.
 */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}
