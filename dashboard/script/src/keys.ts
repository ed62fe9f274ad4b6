import { isTyping, on } from "./dom.ts";
import { undoLastChange } from "./messages.ts";
import { Palette } from "./palette.ts";
import { hasSingleKeys } from "./single-keys.ts";

declare global {
  /** The keys that were pressed before this script ran, from the head of the page. */
  var earlyKeys: (KeyboardEvent[] & { listener: (event: KeyboardEvent) => void }) | undefined;
}

/** The time between the keys of a sequence such as `g f`, in milliseconds. */
const sequenceDelay = 1_000;

/** The rows of all lists. */
const rowSelector = "main :is(tbody tr, .timeline > li, .action-list > li)";

/** The sections that `g` and a letter open. */
const sections: Readonly<Record<string, string>> = {
  f: "flags",
  e: "environments",
  t: "try",
  a: "audit",
  p: "people",
  h: "help",
};

/** Handles the shortcuts that the help lists, and shows the button that opens the palette. */
export function listenToKeys(hasUnsavedInput: () => boolean): void {
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
  const shortcuts = new Shortcuts(palette, hasUnsavedInput);
  document.addEventListener("keydown", (event) => {
    if (!event.isComposing && shortcuts.handle(event)) {
      event.preventDefault();
    }
  });
  replayEarlyKeys((event) => {
    if (dialog?.open) {
      palette?.type(event.key);
    } else {
      shortcuts.handle(event);
    }
  });
}

/** The shortcuts that the help lists. */
class Shortcuts {
  readonly #palette: Palette | null;
  readonly #hasUnsavedInput: () => boolean;
  /** The time of the key that starts a sequence, if it was the last key. */
  #sequenceStart = Number.NEGATIVE_INFINITY;

  constructor(palette: Palette | null, hasUnsavedInput: () => boolean) {
    this.#palette = palette;
    this.#hasUnsavedInput = hasUnsavedInput;
  }

  /** Handles a key, and returns true if it is a shortcut. */
  handle({ key, ctrlKey, metaKey, altKey, shiftKey, repeat, timeStamp }: KeyboardEvent): boolean {
    const letter = key.toLowerCase();
    const isCommand = ctrlKey || metaKey;
    if (document.querySelector("dialog[open]") !== null) {
      // The browser must not move the focus to its own bar.
      return isCommand && letter === "k";
    }
    if (isCommand && !altKey && !shiftKey) {
      return this.#handleCommand(letter, repeat);
    }
    if (isCommand || altKey || isTyping() || !hasSingleKeys()) {
      return false;
    }
    const isSequence = timeStamp - this.#sequenceStart < sequenceDelay;
    this.#sequenceStart = letter === "g" ? timeStamp : Number.NEGATIVE_INFINITY;
    return (isSequence && openSection(letter)) || handleSingleKey(key);
  }

  #handleCommand(letter: string, isRepeated: boolean): boolean {
    if (letter === "k" && this.#palette !== null) {
      this.#palette.open();
      return true;
    }
    if (letter === "z" && !this.#hasUnsavedInput() && canUndo()) {
      // A key that is held down must not undo its own undo.
      if (!isRepeated) {
        undoLastChange();
      }
      return true;
    }
    return false;
  }
}

function handleSingleKey(key: string): boolean {
  switch (key) {
    case "?":
      document.querySelector<HTMLDialogElement>("dialog#help-dialog")?.showModal();
      return true;
    case "/":
      return focusSearch();
    case "j":
    case "k":
      return moveFocus(key === "j" ? 1 : -1);
    case "o":
      return openRow();
    default:
      return false;
  }
}

function replayEarlyKeys(handle: (event: KeyboardEvent) => void): void {
  const early = globalThis.earlyKeys;
  if (early !== undefined) {
    removeEventListener("keydown", early.listener);
    early.forEach(handle);
  }
}

function openSection(letter: string): boolean {
  const path = `/dashboard/${sections[letter]}`;
  const links = document.querySelectorAll<HTMLAnchorElement>(".sidebar-nav a");
  const link = [...links].find(({ pathname }) => pathname === path);
  link?.click();
  return link !== undefined;
}

function focusSearch(): boolean {
  const search = document.querySelector<HTMLInputElement>("main input[type=search]");
  search?.focus();
  search?.select();
  return search !== null;
}

/** Returns the links of the rows of the list on this page: the first of each row. */
function rowLinks(): HTMLAnchorElement[] {
  const rows = document.querySelectorAll(rowSelector);
  return [...rows].flatMap((row) => row.querySelector<HTMLAnchorElement>("a[href]") ?? []);
}

/** Returns the index of the row with the focus, or -1. */
function focusedRow(links: readonly HTMLAnchorElement[]): number {
  const row = document.activeElement?.closest(rowSelector);
  return links.findIndex((link) => row?.contains(link));
}

function moveFocus(step: number): boolean {
  const links = rowLinks();
  const index = Math.min(Math.max(focusedRow(links) + step, 0), links.length - 1);
  links[index]?.focus();
  links[index]?.scrollIntoView({ block: "nearest" });
  return links.length > 0;
}

function openRow(): boolean {
  const links = rowLinks();
  const link = links[focusedRow(links)];
  link?.click();
  return link !== undefined;
}

/** Returns true if the shortcut can only mean the last change: no text that was typed could be meant. */
function canUndo(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    "main form[method=post] :is(input:not([type=hidden]), textarea)",
  );
  const isEdited = [...fields].some(({ value, defaultValue }) => value !== defaultValue);
  return !isEdited && !isTyping();
}
