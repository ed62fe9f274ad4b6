import { announce, on } from "./dom.ts";

/** The time for which a button says that it has copied, in milliseconds. */
const confirmationDuration = 2_000;

/** Copies the text of a button with `data-copy`. Without scripts such buttons are hidden. */
export function listenToCopying(): void {
  on("click", "[data-copy]", (button) => void copyFrom(button));
}

async function copyFrom(button: HTMLElement): Promise<void> {
  const { copy = "", copied = "Copied" } = button.dataset;
  if (await copyText(copy)) {
    const word = button.querySelector(".copy-word");
    const before = word?.textContent ?? "";
    word?.replaceChildren("Copied");
    button.dataset.isCopied = "";
    announce(copied);
    setTimeout(() => {
      word?.replaceChildren(before);
      delete button.dataset.isCopied;
      announce("");
    }, confirmationDuration);
  }
}

/**
 * Puts a text on the clipboard; false if that is not possible.
 *
 * The clipboard's own interface exists on secure origins only. A dashboard at `http://flags.internal` has to select the
 * text and have the browser copy what is selected.
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
