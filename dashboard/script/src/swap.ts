import { Idiomorph } from "idiomorph";
import { hydrate, isIsland } from "./islands.ts";

/**
 * Units that an update replaces completely or not at all: islands, because only their own code may change them, forms,
 * and elements with `data-unit`.
 */
const units = "leptos-island, form, [data-unit]";
/** Marks unsaved changes within an island. */
const unsaved = "[data-unsaved]";
/** Fields whose values are not saved: those that are part of the URL, which a fetched page has, too, and selections. */
const addressed = "[data-addressed]";
/** Fields for text or a choice. */
const fields = "input, textarea, select";
/** Open dialogs and popovers, messages, and elements with a pending request. */
const open = "dialog[open], :popover-open, .toast, [aria-busy=true]";
/** Attributes that scripts and browsers set after the page is rendered. */
const foreign = new Set(["hidden", "open", "inert", "data-ready", "data-dragged"]);

/** The parts that an update skipped: none, units without input, or units with input that the user typed. */
export type Skipped = "none" | "untouched" | "edited";

/** Updates the page to the server's current rendering, but never a part that the user is editing. */
export class Swap {
  /** True if the last update skipped only units without input; the next `focusout` repeats it. */
  isBehind = false;
  readonly #main: Element;
  /** The server's rendering of each unit as shown, before islands and input changed it. */
  readonly #rendered = new WeakMap<Element, string>();
  /** The server's latest rendering of each skipped unit. */
  readonly #latest = new WeakMap<Element, string>();
  /** The fields that the user has changed. */
  readonly #touched = new Set<Element>();

  constructor(main: Element) {
    this.#main = main;
    this.#record(main);
    main.addEventListener("input", ({ target }) => {
      if (target instanceof Element && target.closest(addressed) === null) {
        this.#touched.add(target);
      }
    });
    main.addEventListener("submit", ({ target }) => {
      // The response is shown without navigation, so the unit no longer matches its recorded rendering.
      for (let unit = unitOf(target); unit !== null; unit = unitOf(unit.parentElement)) {
        this.#rendered.delete(unit);
      }
    });
  }

  /** Returns true if the page has unsaved input outside of dialogs, and of a part that is being submitted. */
  hasUnsavedInput(submitted?: Element): boolean {
    const orders = this.#main.querySelectorAll(`form${unsaved}`);
    return [...this.#touched, ...orders].some((element) => {
      const form = element.closest("form");
      const isSaved = form?.method === "post" && form.closest("dialog") === null;
      return isSaved && element.isConnected && !submitted?.contains(form);
    });
  }

  /** Marks the input of a form as discarded. */
  discard(form: Element): void {
    for (const field of this.#touched) {
      if (form.contains(field)) {
        this.#touched.delete(field);
      }
    }
  }

  /** Morphs the page to a fetched one. */
  update(fresh: Element): Skipped {
    const replacements: [Element, Element][] = [];
    const added: Element[] = [];
    let skipped = "none" as Skipped;
    const skip = (unit: Element, next: string) => {
      const isTouched = this.#isTouched(unit);
      if (isTouched && this.#latest.get(unit) !== next) {
        skipped = "edited";
      } else if (!isTouched && skipped === "none") {
        skipped = "untouched";
      }
      if (this.#latest.get(unit) !== next) {
        // Re-evaluates the playground as if the user had typed.
        unit
          .querySelector(".playground-live")
          ?.dispatchEvent(new Event("input", { bubbles: true }));
      }
      this.#latest.set(unit, next);
      if (isIsland(unit)) {
        this.#rendered.delete(unit);
      }
    };
    const canMorph = (old: Node, next: Node): boolean => {
      if (!(old instanceof Element) || !(next instanceof Element) || !old.matches(units)) {
        return true;
      }
      if (this.#rendered.get(old) === next.outerHTML) {
        // The unit matches the server's rendering, apart from later changes in the browser.
        return false;
      }
      if (this.#isInUse(old) || isNewer(old, next)) {
        skip(old, next.outerHTML);
        return false;
      }
      if (old.matches("leptos-island, form:has(leptos-island)")) {
        // The code of an island also changes the fields of its form.
        replacements.push([old, document.importNode(next, true)]);
        return false;
      }
      this.#rendered.set(old, next.outerHTML);
      return true;
    };
    const canRemove = (old: Node): boolean => {
      if (!(old instanceof Element && this.#isInUse(old))) {
        return true;
      }
      skip(old, "");
      return false;
    };
    Idiomorph.morph(this.#main, [...fresh.childNodes], {
      morphStyle: "innerHTML",
      callbacks: {
        beforeNodeMorphed: canMorph,
        beforeNodeRemoved: canRemove,
        beforeAttributeUpdated: (name) => !foreign.has(name),
        afterNodeAdded: (node) => {
          if (node instanceof Element) {
            added.push(node);
          }
        },
      },
    });
    for (const [old, next] of replacements) {
      const path = focusWithin(old);
      old.replaceWith(next);
      added.push(next);
      focus(next, path);
    }
    for (const each of added) {
      this.#record(each);
    }
    void hydrate(added);
    this.isBehind = skipped === "untouched";
    return skipped;
  }

  #record(root: Element): void {
    for (const unit of [root, ...root.querySelectorAll(units)]) {
      if (unit.matches(units)) {
        this.#rendered.set(unit, unit.outerHTML);
      }
    }
  }

  #isTouched(element: Element): boolean {
    const isUnsaved = element.matches(unsaved) || element.querySelector(unsaved) !== null;
    return isUnsaved || [...this.#touched].some((field) => element.contains(field));
  }

  /** Returns true if the user is editing the element, or it is open or has a pending request. */
  #isInUse(element: Element): boolean {
    const focused = document.activeElement;
    // A focused button survives a change of its form, but not the replacement of its island.
    const hasFocus =
      element.contains(focused) && (isIsland(element) || focused?.matches(fields) === true);
    return hasFocus || element.querySelector(open) !== null || this.#isTouched(element);
  }
}

function unitOf(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest(units) : null;
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

/** Returns the index of the focused descendant; -1 if none has the focus. */
function focusWithin(element: Element): number {
  const focused = document.activeElement;
  return focused === null ? -1 : [...element.querySelectorAll("*")].indexOf(focused);
}

function focus(element: Element, index: number): void {
  const [...all] = element.querySelectorAll<HTMLElement>("*");
  all[index]?.focus();
}
