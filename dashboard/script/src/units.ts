import { isIsland } from "./islands.ts";

/**
 * Units that an update replaces completely or not at all: islands, because only their own code may change them, forms,
 * and elements with `data-unit`.
 */
export const unitSelector = "leptos-island, form, [data-unit]";
/** Marks unsaved changes within an island. */
const unsaved = "[data-unsaved]";
/** Fields whose values are not saved: those that are part of the URL, which a fetched page has, too, and selections. */
const addressed = "[data-addressed]";
/** Fields for text or a choice. */
const fields = "input, textarea, select";
/** Open dialogs and popovers, messages, and elements with a pending request. */
const open = "dialog[open], :popover-open, .toast, [aria-busy=true]";

/** The units of the page as the server rendered them, and the input of the user. */
export class Units {
  /** The server's rendering of each unit as shown, before islands and input changed it. */
  readonly rendered = new WeakMap<Element, string>();
  /** The server's latest rendering of each unit that an update skipped. */
  readonly latest = new WeakMap<Element, string>();
  readonly #main: Element;
  /** The fields that the user has changed. */
  readonly #touched = new Set<Element>();

  constructor(main: Element) {
    this.#main = main;
    this.record(main);
    main.addEventListener("input", ({ target }) => {
      if (target instanceof Element && target.closest(addressed) === null) {
        this.#touched.add(target);
      }
    });
  }

  /** Forgets the rendering of the units around an element, because a script is going to change it. */
  forget(target: EventTarget | null): void {
    for (let unit = unitOf(target); unit !== null; unit = unitOf(unit.parentElement)) {
      this.rendered.delete(unit);
    }
  }

  /** Records the units of an element that the server has just rendered. */
  record(root: Element): void {
    for (const unit of [root, ...root.querySelectorAll(unitSelector)]) {
      if (unit.matches(unitSelector)) {
        this.rendered.set(unit, unit.outerHTML);
      }
    }
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

  /** Returns true if the element has input that the user typed. */
  isTouched(element: Element): boolean {
    const isUnsaved = element.matches(unsaved) || element.querySelector(unsaved) !== null;
    return isUnsaved || [...this.#touched].some((field) => element.contains(field));
  }

  /** Returns true if the user is editing the element, or it is open or has a pending request. */
  isInUse(element: Element): boolean {
    const focused = document.activeElement;
    // A focused button survives a change of its form, but not the replacement of its island.
    const hasFocus =
      element.contains(focused) && (isIsland(element) || focused?.matches(fields) === true);
    return hasFocus || element.querySelector(open) !== null || this.isTouched(element);
  }
}

function unitOf(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest(unitSelector) : null;
}
