import { link } from "./dom.ts";

type Link = { readonly href: string; readonly text: string };

/** What concerns the page as a whole, in quiet bars above its lower edge. */
export class Bars {
  readonly #box = document.createElement("div");
  readonly #bars = new Map<string, HTMLElement>();

  constructor() {
    this.#box.className = "bars";
    // There before anything is said, or screen readers would not notice.
    this.#box.role = "status";
    document.body.append(this.#box);
  }

  show(name: string, text: string, way?: Link): void {
    const bar = document.createElement("p");
    bar.className = "bar";
    bar.append(text);
    if (way !== undefined) {
      bar.append(" ", anchor(way));
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

/** A link that goes to another page in another tab, and to this page by loading it anew. */
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
