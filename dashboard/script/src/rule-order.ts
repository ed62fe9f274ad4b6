import { announce, on } from "./dom.ts";

/** Moves rules by their handles and buttons without a request for each move. One button then saves the order. */
export function listenToRuleOrder(): void {
  /** The order before the first move. */
  let original: string[] = [];

  /** Records the order before a rule is moved. */
  function recordOrder(): void {
    if (listOf()?.hasAttribute("data-unsaved") === false) {
      original = order();
    }
  }

  function finishMove(rule: Element): void {
    const current = order();
    const position = rulesOf().indexOf(rule as HTMLElement) + 1;
    announce(`Now rule ${position} of ${current.length}.`);
    setChanged(current.join() !== original.join());
  }

  on("click", "#rules :is([name=up], [name=down])", (button: HTMLButtonElement, event) => {
    const rule = button.closest("[data-rule]");
    if (rule !== null && formOf() !== null) {
      event.preventDefault();
      recordOrder();
      if (moveTo(rule, button.name === "up")) {
        button.focus();
        finishMove(rule);
      }
    }
  });
  on("click", "[data-put-back]", () => resetOrder(original));
  on("pointerdown", "#rules .handle", (handle, event) => {
    event.preventDefault();
    recordOrder();
    handle.setPointerCapture(event.pointerId);
    handle.closest("[data-rule]")?.setAttribute("data-dragged", "true");
  });
  document.addEventListener("pointermove", ({ clientY }) => {
    const rule = draggedRule();
    const isAbove = rule && isPast(neighborOf(rule, true), (middle) => clientY < middle);
    const isBelow = rule && isPast(neighborOf(rule, false), (middle) => clientY > middle);
    if (rule && (isAbove || isBelow) && moveTo(rule, isAbove === true)) {
      finishMove(rule);
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => draggedRule()?.removeAttribute("data-dragged"));
  }
}

function listOf(): HTMLElement | null {
  return document.getElementById("rules");
}

function formOf(): HTMLFormElement | null {
  return document.querySelector<HTMLFormElement>("form#rule-order");
}

function rulesOf(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("#rules [data-rule]")];
}

/** Returns the ids of the rules in their current order. */
function order(): string[] {
  return rulesOf().map((rule) => rule.dataset.rule ?? "");
}

function neighborOf(rule: Element, isAbove: boolean): Element | null {
  const neighbor = isAbove ? rule.previousElementSibling : rule.nextElementSibling;
  return neighbor?.hasAttribute("data-rule") ? neighbor : null;
}

/** Swaps a rule with its neighbor. Returns false if it has none in that direction. */
function moveTo(rule: Element, isAbove: boolean): boolean {
  const neighbor = neighborOf(rule, isAbove);
  neighbor?.insertAdjacentElement(isAbove ? "beforebegin" : "afterend", rule);
  return neighbor !== null;
}

function draggedRule(): Element | null {
  return document.querySelector("#rules [data-dragged]");
}

function isPast(neighbor: Element | null, compare: (middle: number) => boolean): boolean {
  const box = neighbor?.getBoundingClientRect();
  return box !== undefined && compare(box.top + box.height / 2);
}

/** Shows the bar that saves the order, and protects the list from updates while its order is unsaved. */
function setChanged(isChanged: boolean): void {
  const form = formOf();
  listOf()?.toggleAttribute("data-unsaved", isChanged);
  form?.toggleAttribute("data-unsaved", isChanged);
  form?.querySelector(".order-bar")?.toggleAttribute("hidden", !isChanged);
  const field = form?.querySelector<HTMLInputElement>("[name=order]");
  if (field) {
    field.value = order().join(" ");
  }
}

function resetOrder(original: readonly string[]): void {
  const rules = new Map(rulesOf().map((rule) => [rule.dataset.rule, rule]));
  listOf()?.prepend(...original.flatMap((id) => rules.get(id) ?? []));
  announce("The original order is back.");
  setChanged(false);
}
