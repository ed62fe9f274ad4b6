import { Idiomorph } from "idiomorph";
import { hydrate, isIsland } from "./islands.ts";

/**
 * Units that are left alone or changed as a whole: islands, because only their own code may change them, forms, and what
 * says so of itself.
 */
const units = "leptos-island, form, [data-unit]";
/** What an island marks in which somebody has changed something that is not sent yet. */
const unsaved = "[data-unsaved]";
/** Fields whose values are mirrored in the URL, so that a fresh page has them too. */
const addressed = "[data-addressed]";
/** Where one types or chooses. */
const fields = "input, textarea, select";
/** What is open, on its way to the server, or waits for an answer. */
const open = "dialog[open], :popover-open, .toast, [aria-busy=true]";
/** What scripts and browsers set on a page that has been drawn. */
const foreign = new Set(["hidden", "open", "inert", "data-ready", "data-dragged"]);

/** Whether all of a page could be brought up to date; if not, whether that concerns what somebody has typed. */
export type Kept = "nothing" | "untouched" | "typed";

/** Brings a page to how the server draws it now, where it differs, and never under a person's fingers. */
export class Swap {
  /** Whether something was left as it was because somebody has the focus there. */
  isBehind = false;
  readonly #main: Element;
  /** How the server drew what each unit shows, before islands and typing changed it. */
  readonly #drawn = new WeakMap<Element, string>();
  /** How the server drew each unit last, also where that is not shown. */
  readonly #known = new WeakMap<Element, string>();
  /** The fields that somebody has changed. */
  readonly #touched = new Set<Element>();

  constructor(main: Element) {
    this.#main = main;
    this.#remember(main);
    main.addEventListener("input", ({ target }) => {
      if (target instanceof Element && target.closest(addressed) === null) {
        this.#touched.add(target);
      }
    });
    main.addEventListener("submit", ({ target }) => {
      // What was sent without leaving the page is shown already, so this is no longer as it was drawn.
      for (let unit = unitOf(target); unit !== null; unit = unitOf(unit.parentElement)) {
        this.#drawn.delete(unit);
      }
    });
  }

  /** True if the page has unsaved input outside of dialogs. */
  get hasTyped(): boolean {
    return (
      [...this.#touched].some((field) => {
        const isSaved =
          field.closest("form")?.method === "post" && field.closest("dialog") === null;
        return isSaved && field.isConnected;
      }) || this.#main.querySelector(`form${unsaved}`) !== null
    );
  }

  /** Marks the input of a form as discarded. */
  discard(form: Element): void {
    for (const field of this.#touched) {
      if (form.contains(field)) {
        this.#touched.delete(field);
      }
    }
  }

  to(fresh: Element): Kept {
    const replacements: [Element, Element][] = [];
    const added: Element[] = [];
    let kept = "nothing" as Kept;
    const keep = (unit: Element, next: string) => {
      const isTouched = this.#isTouched(unit);
      if (isTouched && this.#known.get(unit) !== next) {
        kept = "typed";
      } else if (!isTouched && kept === "nothing") {
        kept = "untouched";
      }
      if (this.#known.get(unit) !== next) {
        // Re-evaluates the playground as if the user had typed.
        unit
          .querySelector(".playground-live")
          ?.dispatchEvent(new Event("input", { bubbles: true }));
      }
      this.#known.set(unit, next);
      if (isIsland(unit)) {
        this.#drawn.delete(unit);
      }
    };
    const mayChange = (old: Node, next: Node): boolean => {
      if (!(old instanceof Element) || !(next instanceof Element) || !old.matches(units)) {
        return true;
      }
      if (this.#drawn.get(old) === next.outerHTML) {
        // Whatever it looks like by now, it is up to date.
        return false;
      }
      if (this.#isInUse(old) || isAhead(old, next)) {
        keep(old, next.outerHTML);
        return false;
      }
      if (isIsland(old)) {
        replacements.push([old, document.importNode(next, true)]);
        return false;
      }
      this.#drawn.set(old, next.outerHTML);
      return true;
    };
    const mayGo = (old: Node): boolean => {
      if (!(old instanceof Element && this.#isInUse(old))) {
        return true;
      }
      keep(old, "");
      return false;
    };
    Idiomorph.morph(this.#main, [...fresh.childNodes], {
      morphStyle: "innerHTML",
      callbacks: {
        beforeNodeMorphed: mayChange,
        beforeNodeRemoved: mayGo,
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
      this.#remember(each);
    }
    void hydrate(added);
    this.isBehind = kept === "untouched";
    return kept;
  }

  #remember(root: Element): void {
    for (const unit of [root, ...root.querySelectorAll(units)]) {
      if (unit.matches(units)) {
        this.#drawn.set(unit, unit.outerHTML);
      }
    }
  }

  #isTouched(element: Element): boolean {
    const isUnsaved = element.matches(unsaved) || element.querySelector(unsaved) !== null;
    return isUnsaved || [...this.#touched].some((field) => element.contains(field));
  }

  /** Whether somebody is in the middle of something there. */
  #isInUse(element: Element): boolean {
    const focused = document.activeElement;
    // A button in a form keeps the focus while the form changes around it; an island is replaced with all that it has.
    const hasFocus =
      element.contains(focused) && (isIsland(element) || focused?.matches(fields) === true);
    return hasFocus || element.querySelector(open) !== null || this.#isTouched(element);
  }
}

function unitOf(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest(units) : null;
}

/** Whether a switch has been switched since the server drew the page that was asked for: the answer to that came sooner. */
function isAhead(old: Element, next: Element): boolean {
  if (!(old instanceof HTMLFormElement && next instanceof HTMLFormElement)) {
    return false;
  }
  const [shown, drawn] = [new FormData(old), new FormData(next)];
  const isSame = ["flag", "environment"].every((name) => shown.get(name) === drawn.get(name));
  return isSame && Number(shown.get("revision")) > Number(drawn.get("revision"));
}

/** Which of the elements within has the focus, if any does. */
function focusWithin(element: Element): number {
  const focused = document.activeElement;
  return focused === null ? -1 : [...element.querySelectorAll("*")].indexOf(focused);
}

function focus(element: Element, place: number): void {
  const [...all] = element.querySelectorAll<HTMLElement>("*");
  all[place]?.focus();
}
