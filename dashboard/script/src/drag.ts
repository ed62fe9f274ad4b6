import { on } from "./dom.ts";

type Options = {
  /** The selector of the items. Each has a handle, and its neighbors are siblings. */
  readonly items: string;
  readonly onStart: (item: HTMLElement) => void;
  /** Called each time that the item has passed a neighbor. */
  readonly onMove?: (item: HTMLElement) => void;
  readonly onEnd?: (item: HTMLElement) => void;
};

/**
 * Moves items among their siblings by their handles. The dragged item has the attribute `data-dragged`, which survives
 * an update of the page.
 */
export function dragByHandle({ items, onStart, onMove, onEnd }: Options): void {
  const dragged = () => document.querySelector<HTMLElement>(`${items}[data-dragged]`);

  on("pointerdown", `${items} .handle`, (handle, event) => {
    if (event.button !== 0 || !event.isPrimary) {
      return;
    }
    const item = handle.closest<HTMLElement>(items);
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    item?.setAttribute("data-dragged", "true");
    if (item !== null) {
      onStart(item);
    }
  });
  document.addEventListener("pointermove", ({ clientY }) => {
    const item = dragged();
    const above = item && neighborOf(item, items, true);
    const below = item && neighborOf(item, items, false);
    const isAbove = above !== null && clientY < middleOf(above);
    const isBelow = below !== null && clientY > middleOf(below);
    if (item !== null && (isAbove || isBelow)) {
      moveItem(item, items, isAbove);
      onMove?.(item);
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => {
      const item = dragged();
      item?.removeAttribute("data-dragged");
      if (item !== null) {
        onEnd?.(item);
      }
    });
  }
}

/** Swaps an item with its neighbor. Returns false if it has none in that direction. */
export function moveItem(item: Element, items: string, isAbove: boolean): boolean {
  const neighbor = neighborOf(item, items, isAbove);
  neighbor?.insertAdjacentElement(isAbove ? "beforebegin" : "afterend", item);
  return neighbor !== null;
}

function neighborOf(item: Element, items: string, isAbove: boolean): Element | null {
  const neighbor = isAbove ? item.previousElementSibling : item.nextElementSibling;
  return neighbor?.matches(items) ? neighbor : null;
}

function middleOf(element: Element): number {
  const { top, height } = element.getBoundingClientRect();
  return top + height / 2;
}
