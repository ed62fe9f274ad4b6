import { Idiomorph } from "idiomorph";
import { restoreFocus } from "./dom.ts";
import { hydrate, isIsland } from "./islands.ts";
import { type Units, unitSelector } from "./units.ts";

/** The event of the window after an update. Previews of changes then show the effect on the current state. */
const pageUpdated = "page-updated";

/** Attributes that scripts and browsers set after the page is rendered. */
const foreign = new Set(["hidden", "open", "data-ready", "data-dragged"]);

/** The parts that an update skipped: none, units without input, or units with input that the user typed. */
export type Skipped = "none" | "untouched" | "edited";

/** An update of the page to the server's current rendering, but never of a part that the user is editing. */
export class Swap {
  readonly #units: Units;
  readonly #replacements: [Element, Element][] = [];
  readonly #added: Element[] = [];
  #skipped: Skipped = "none";

  constructor(units: Units) {
    this.#units = units;
  }

  /** Morphs the page to a fetched one. */
  run(main: Element, fresh: Element): Skipped {
    const rows = rowsAroundFocus();
    Idiomorph.morph(main, [...fresh.childNodes], {
      morphStyle: "innerHTML",
      callbacks: {
        beforeNodeMorphed: (old, next) => this.#canMorph(old, next),
        beforeNodeRemoved: (old) => this.#canRemove(old),
        beforeAttributeUpdated: (name) => !foreign.has(name),
        afterNodeAdded: (node) => {
          if (node instanceof Element) {
            this.#added.push(node);
          }
        },
      },
    });
    for (const [old, next] of this.#replacements) {
      const path = focusWithin(old);
      old.replaceWith(next);
      this.#added.push(next);
      focus(next, path);
    }
    if (rows !== undefined && document.activeElement === document.body) {
      // A link of the next row: pressing the key again must not switch another flag.
      const next = rows.find((row) => row.isConnected);
      restoreFocus(next?.querySelector("a"));
    }
    for (const each of this.#added) {
      this.#units.record(each);
    }
    void hydrate(this.#added);
    dispatchEvent(new Event(pageUpdated));
    return this.#skipped;
  }

  /** Leaves the page as it is, although the server would show another one. */
  keep(main: Element): Skipped {
    this.#skip(main, "");
    return this.#skipped;
  }

  #canMorph(old: Node, next: Node): boolean {
    if (!(old instanceof Element) || !(next instanceof Element) || !old.matches(unitSelector)) {
      return true;
    }
    if (this.#units.rendered.get(old) === next.outerHTML) {
      // The unit matches the server's rendering, apart from later changes in the browser.
      return false;
    }
    if (this.#units.isInUse(old) || isNewer(old, next)) {
      this.#skip(old, next.outerHTML);
      return false;
    }
    if (old.matches("leptos-island, form:has(leptos-island)")) {
      // The code of an island also changes the fields of its form.
      this.#replacements.push([old, document.importNode(next, true)]);
      return false;
    }
    this.#units.rendered.set(old, next.outerHTML);
    return true;
  }

  #canRemove(old: Node): boolean {
    if (!(old instanceof Element && this.#units.isInUse(old))) {
      return true;
    }
    this.#skip(old, "");
    return false;
  }

  #skip(unit: Element, next: string): void {
    const { rendered, latest } = this.#units;
    const isTouched = this.#units.isTouched(unit);
    const isChanged = latest.get(unit) !== next;
    if (isTouched && isChanged) {
      this.#skipped = "edited";
    } else if (!isTouched && this.#skipped === "none") {
      this.#skipped = "untouched";
    }
    if (isChanged) {
      // Re-evaluates the playground as if the user had typed.
      const playground = unit.querySelector(".playground-live");
      playground?.dispatchEvent(new Event("input", { bubbles: true }));
    }
    latest.set(unit, next);
    if (isIsland(unit)) {
      rendered.delete(unit);
    }
  }
}

/** Returns true if the shown switch has a newer revision than the fetched page, because its response arrived first. */
function isNewer(old: Element, next: Element): boolean {
  if (!(old instanceof HTMLFormElement && next instanceof HTMLFormElement)) {
    return false;
  }
  const [shown, fetched] = [new FormData(old), new FormData(next)];
  const isSame = ["flag", "environment"].every((name) => shown.get(name) === fetched.get(name));
  return isSame && Number(shown.get("revision")) > Number(fetched.get("revision"));
}

/** Returns the rows after the one with the focus, then those before it, the nearest first. */
function rowsAroundFocus(): Element[] | undefined {
  const row = document.activeElement?.closest("tr, li");
  if (!row) {
    return undefined;
  }
  const rows = [...(row.parentElement?.children ?? [])];
  const index = rows.indexOf(row);
  return [...rows.slice(index + 1), ...rows.slice(0, index).reverse()];
}

/** Returns the index of the focused descendant; -1 if none has the focus. */
function focusWithin(element: Element): number {
  const focused = document.activeElement;
  return focused === null ? -1 : [...element.querySelectorAll("*")].indexOf(focused);
}

function focus(element: Element, index: number): void {
  const [...all] = element.querySelectorAll<HTMLElement>("*");
  all[index]?.focus();
}
