import { post } from "./dom.ts";

/** A page to navigate to. */
type Destination = {
  readonly kind: string;
  readonly name: string;
  /** The detail that distinguishes it from others with the same name. */
  readonly detail: string;
  readonly href: string;
};

const address = "/dashboard/api/destinations";
/** The delay after the last keystroke before the service is queried, in milliseconds. */
const pause = 120;

/** A dialog with a combobox that searches the destinations of the dashboard and navigates to one. */
export class Palette {
  readonly #dialog: HTMLDialogElement;
  readonly #field: HTMLInputElement;
  readonly #list: HTMLElement;
  readonly #note: HTMLElement;
  #found: readonly Destination[] = [];
  /** The text to which the current results belong. */
  #answered: string | undefined;
  #chosen = 0;
  /** The last query; responses to earlier ones are ignored. */
  #asked: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(dialog: HTMLDialogElement) {
    const part = (selector: string) => dialog.querySelector<HTMLElement>(selector) ?? dialog;
    this.#dialog = dialog;
    this.#field = part("input") as HTMLInputElement;
    this.#list = part("ul");
    this.#note = part(".palette-note");
    this.#field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#ask(), pause);
    });
    this.#field.addEventListener("keydown", (event) => this.#move(event));
    part("form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#goToAnswer();
    });
    this.#list.addEventListener("click", ({ target }) => {
      const option = target instanceof Element ? target.closest("li") : null;
      if (option !== null) {
        this.#choose([...this.#list.children].indexOf(option));
        this.#go();
      }
    });
  }

  open(): void {
    this.#dialog.showModal();
    this.#field.select();
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const text = this.#field.value;
    this.#asked = text;
    const answer = await find(text);
    if (this.#asked !== text) {
      return;
    }
    this.#answered = text;
    this.#found = typeof answer === "string" ? [] : answer;
    this.#list.replaceChildren(...this.#found.map(option));
    this.#list.hidden = this.#found.length === 0;
    this.#field.ariaExpanded = String(this.#found.length > 0);
    this.#choose(0);
    this.#note.textContent = typeof answer === "string" ? answer : count(this.#found.length);
  }

  #choose(place: number): void {
    this.#chosen = place;
    for (const [at, each] of [...this.#list.children].entries()) {
      each.ariaSelected = String(at === place);
    }
    const chosen = this.#list.children[place];
    this.#field.setAttribute("aria-activedescendant", chosen?.id ?? "");
    chosen?.scrollIntoView({ block: "nearest" });
  }

  #move(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const { length } = this.#found;
    if (step !== 0 && length > 0) {
      event.preventDefault();
      this.#choose((this.#chosen + step + length) % length);
    }
  }

  /** Navigates to the selected result of the current text. */
  async #goToAnswer(): Promise<void> {
    if (this.#answered !== this.#field.value) {
      clearTimeout(this.#timer);
      await this.#ask();
    }
    this.#go();
  }

  #go(): void {
    const destination = this.#found[this.#chosen];
    if (destination !== undefined) {
      location.href = destination.href;
    }
  }
}

/** Returns the destinations whose names contain the text, or the reason why they are unknown. */
async function find(text: string): Promise<readonly Destination[] | string> {
  try {
    const answer = await post(address, { text });
    if (answer.status === 401) {
      return "Your session has ended.";
    }
    return answer.ok
      ? ((await answer.json()) as Destination[])
      : "The search failed. Try again in a moment.";
  } catch {
    return "The service cannot be reached.";
  }
}

function option({ name, detail, kind }: Destination, place: number): HTMLElement {
  const item = document.createElement("li");
  item.id = `palette-${place}`;
  item.role = "option";
  for (const [part, text] of Object.entries({ name, detail, kind })) {
    const span = document.createElement("span");
    span.className = `palette-${part}`;
    span.textContent = text;
    item.append(span);
  }
  return item;
}

function count(found: number): string {
  const places = found === 1 ? "1 place" : `${found} places`;
  return found === 0 ? "No matches." : places;
}
