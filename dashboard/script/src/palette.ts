import { destinationsAddress } from "./addresses.ts";
import { post } from "./dom.ts";
import { readItem, writeItem } from "./storage.ts";

/** A page to navigate to. */
type Destination = {
  readonly kind: string;
  readonly name: string;
  /** The detail that distinguishes it from others with the same name. */
  readonly detail: string;
  readonly href: string;
};

/** The delay after the last keystroke before the server is queried, in milliseconds. */
const debounce = 120;

/** The name of the list of used addresses in the browser's storage, and its maximum length. */
const storageKey = "pennon-used";
const remembered = 50;

/** A dialog with a combobox that searches the destinations of the dashboard and navigates to one. */
export class Palette {
  readonly #dialog: HTMLDialogElement;
  readonly #field: HTMLInputElement;
  readonly #list: HTMLElement;
  readonly #note: HTMLElement;
  #results: readonly Destination[] = [];
  /** The text to which the current results belong. */
  #searchedText: string | undefined;
  #selected = 0;
  /** The last query; responses to earlier ones are ignored. */
  #latestText: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(dialog: HTMLDialogElement) {
    const part = (selector: string) => dialog.querySelector<HTMLElement>(selector) ?? dialog;
    this.#dialog = dialog;
    this.#field = part("input") as HTMLInputElement;
    this.#list = part("ul");
    this.#note = part(".palette-note");
    this.#field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#search(), debounce);
    });
    this.#field.addEventListener("keydown", (event) => this.#move(event));
    part("form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#goToSelected();
    });
    this.#list.addEventListener("click", ({ target }) => {
      const option = target instanceof Element ? target.closest("li") : null;
      if (option !== null) {
        this.#select([...this.#list.children].indexOf(option));
        this.#go();
      }
    });
  }

  open(): void {
    this.#dialog.showModal();
    this.#field.select();
    void this.#search();
  }

  /** Adds a letter that the user typed before the dialog was open. */
  type(letter: string): void {
    if (letter.length === 1) {
      this.#field.value += letter;
      void this.#search();
    }
  }

  async #search(): Promise<void> {
    const text = this.#field.value;
    this.#latestText = text;
    const results = await find(text);
    if (this.#latestText !== text) {
      return;
    }
    this.#searchedText = text;
    this.#results = typeof results === "string" ? [] : sortByUse(results);
    this.#list.replaceChildren(...this.#results.map(option));
    this.#list.hidden = this.#results.length === 0;
    this.#field.ariaExpanded = String(this.#results.length > 0);
    this.#select(0);
    this.#note.textContent =
      typeof results === "string" ? results : countText(this.#results.length);
  }

  #select(index: number): void {
    this.#selected = index;
    for (const [at, each] of [...this.#list.children].entries()) {
      each.ariaSelected = String(at === index);
    }
    const chosen = this.#list.children[index];
    this.#field.setAttribute("aria-activedescendant", chosen?.id ?? "");
    chosen?.scrollIntoView({ block: "nearest" });
  }

  #move(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const { length } = this.#results;
    if (step !== 0 && length > 0) {
      event.preventDefault();
      this.#select((this.#selected + step + length) % length);
    }
  }

  /** Navigates to the selected result of the current text. */
  async #goToSelected(): Promise<void> {
    if (this.#searchedText !== this.#field.value) {
      clearTimeout(this.#timer);
      await this.#search();
    }
    this.#go();
  }

  #go(): void {
    const destination = this.#results[this.#selected];
    if (destination !== undefined) {
      rememberUse(destination);
      location.href = destination.href;
    }
  }
}

/** Returns the destinations whose names contain the text, or the reason why they are unknown. */
async function find(text: string): Promise<readonly Destination[] | string> {
  try {
    const response = await post(`${destinationsAddress}?${scope()}`, { text });
    if (response.status === 401) {
      return "Your session has ended.";
    }
    return response.ok
      ? ((await response.json()) as Destination[])
      : "The search failed. Try again in a moment.";
  } catch {
    return "Pennon cannot be reached.";
  }
}

/** Returns the addresses that were chosen, the last one first. */
function usedAddresses(): string[] {
  try {
    const used: unknown = JSON.parse(readItem("localStorage", storageKey) ?? "[]");
    return Array.isArray(used) ? used.map(String) : [];
  } catch {
    // Another program has written to the storage.
    return [];
  }
}

function rememberUse({ href }: Destination): void {
  const used = [href, ...usedAddresses().filter((each) => each !== href)];
  writeItem("localStorage", storageKey, JSON.stringify(used.slice(0, remembered)));
}

/** Moves the destinations that were chosen before to the beginning, the last one first. */
function sortByUse(destinations: readonly Destination[]): Destination[] {
  const used = usedAddresses();
  const rank = ({ href }: Destination) => used.indexOf(href) >>> 0;
  return destinations.toSorted((one, next) => rank(one) - rank(next));
}

/** Returns the parameter of the page's address that limits the dashboard to a product. */
function scope(): URLSearchParams {
  const product = new URLSearchParams(location.search).get("product") ?? "";
  return new URLSearchParams({ product });
}

function option({ name, detail, kind }: Destination, index: number): HTMLElement {
  const item = document.createElement("li");
  item.id = `palette-${index}`;
  item.role = "option";
  for (const [part, text] of Object.entries({ name, detail, kind })) {
    const span = document.createElement("span");
    span.className = `palette-${part}`;
    span.textContent = text;
    item.append(span);
  }
  return item;
}

function countText(count: number): string {
  if (count === 0) {
    return "No matches.";
  }
  return count === 1 ? "1 result" : `${count} results`;
}
