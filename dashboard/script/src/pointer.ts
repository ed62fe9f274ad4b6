import { type Units, unitSelector } from "./units.ts";

/** The controls that the user may be about to press. */
const controls = "a[href], button, input, label, select, summary";

/** Parts of the page that stay in their place when the rest moves. */
const floating = "dialog, :popover-open, .toast";

/** The parts that move the rest of the page when they appear or disappear. */
const blocks = "tr, li, .notice";

/** Parts whose blocks come from scripts, so the server's rendering lacks them. */
const foreign = "leptos-island, dialog";

/** The time for which a resting pointer protects the control under it, in milliseconds. */
const mouseDelay = 10_000;

/** The same after a tap, because a finger leaves no pointer. */
const tapDelay = 2_000;

/**
 * The pointer, whose next click must reach the control that the user sees. An update waits while it would move this
 * control, unless the pointer has rested there for some time.
 */
export class Pointer {
  readonly #main: Element;
  readonly #units: Units;
  #event: PointerEvent | undefined;
  #eventAt = 0;

  constructor(main: Element, units: Units) {
    this.#main = main;
    this.#units = units;
    for (const type of ["pointerdown", "pointermove", "pointerover", "pointerup"] as const) {
      document.addEventListener(type, (event) => {
        this.#event = event;
        this.#eventAt = Date.now();
      });
    }
  }

  /** Returns the time for which an update must wait, in milliseconds. */
  delay(fresh: Element): number {
    const control = this.#control();
    if (control === null || !this.#moves(control, fresh)) {
      return 0;
    }
    const delay = this.#event?.pointerType === "touch" ? tapDelay : mouseDelay;
    return Math.max(0, this.#eventAt + delay - Date.now());
  }

  /** Returns the control under the pointer, which may have been replaced since the last event. */
  #control(): Element | null {
    const { clientX, clientY } = this.#event ?? { clientX: -1, clientY: -1 };
    return this.controlOf(document.elementFromPoint(clientX, clientY));
  }

  /** Returns the control around an element, if an update may move it. */
  controlOf(target: EventTarget | null): Element | null {
    const control = target instanceof Element ? target.closest(controls) : null;
    const isMovable = this.#main.contains(control) && control?.closest(floating) === null;
    return isMovable ? control : null;
  }

  /** Returns true if an update replaces any block up to the control, or up to a part around it that stays as it is. */
  #moves(control: Element, fresh: Element): boolean {
    const end = this.#keptPart(control) ?? control;
    const shown = blocksOf(this.#main).filter(
      (block) => block.compareDocumentPosition(end) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    const next = blocksOf(fresh);
    return shown.some((block, index) => identity(block) !== identity(next[index]));
  }

  /** Returns the outermost unit around a control that an update skips. */
  #keptPart(control: Element): Element | undefined {
    let kept: Element | undefined;
    let unit = control.closest(unitSelector);
    while (unit !== null) {
      kept = this.#units.isInUse(unit) ? unit : kept;
      unit = unit.parentElement?.closest(unitSelector) ?? null;
    }
    return kept;
  }
}

function blocksOf(root: Element): Element[] {
  return [...root.querySelectorAll(blocks)].filter((block) => block.closest(foreign) === null);
}

/** Identifies a block by its id, or else by its links. Its other content may change. */
function identity(block: Element | undefined): string | undefined {
  const links = block?.querySelectorAll("a") ?? [];
  return block?.id || (block && [...links].map((link) => link.getAttribute("href")).join(" "));
}
