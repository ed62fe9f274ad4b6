import { link } from "./dom.ts";

type Link = { readonly href: string; readonly text: string };

/** The distance from the bars to a message above them, in pixels. */
const gap = 8;

/** The height above the lower edge up to which a message may reach, in pixels. */
const messageHeight = 160;

/** Messages about the page as a whole, in bars above its lower edge. */
export class Bars {
  readonly #box = document.createElement("div");
  readonly #bars = new Map<string, HTMLElement>();

  constructor() {
    this.#box.className = "bars";
    // Added before the first message, because screen readers ignore a status region that appears with its text.
    this.#box.role = "status";
    document.body.append(this.#box);
    new ResizeObserver(() => {
      const height = this.#box.offsetHeight;
      publish("--bars", height === 0 ? 0 : height + gap);
    }).observe(this.#box);
    for (const event of ["change", "resize", "scroll"]) {
      addEventListener(event, publishSelection, { passive: true });
    }
  }

  isShown(name: string): boolean {
    return this.#bars.has(name);
  }

  show(name: string, text: string, action?: Link): void {
    const bar = document.createElement("p");
    bar.className = "bar";
    bar.append(text);
    if (action !== undefined) {
      bar.append(" ", anchor(action));
    }
    this.hide(name);
    this.#bars.set(name, bar);
    this.#box.append(bar);
  }

  hide(name: string): void {
    this.#bars.get(name)?.remove();
    this.#bars.delete(name);
  }
}

/** Publishes the space up to the upper edge of the bar for selected flags, if a message would cover that bar. */
function publishSelection(): void {
  const bar = document.querySelector(".selection-bar")?.getBoundingClientRect();
  const isCovered = bar !== undefined && bar.height > 0 && innerHeight - bar.bottom < messageHeight;
  publish("--selection", isCovered ? innerHeight - bar.top : 0);
}

function publish(name: string, space: number): void {
  document.documentElement.style.setProperty(name, `${space}px`);
}

/** Returns a link that opens another page in a new tab, and reloads the page if it leads to this one. */
function anchor({ href, text }: Link): HTMLAnchorElement {
  const anchor = link(href, text);
  if (href === location.href) {
    anchor.addEventListener("click", (event) => {
      event.preventDefault();
      location.reload();
    });
  } else {
    anchor.target = "_blank";
  }
  return anchor;
}
