import { announce, on } from "./dom.ts";
import { dragByHandle, moveItem } from "./drag.ts";

const rules = "#rules [data-rule]";

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

  function finishMove(rule: HTMLElement): void {
    const current = order();
    const position = rulesOf().indexOf(rule) + 1;
    announce(`Now rule ${position} of ${current.length}.`);
    setChanged(current.join() !== original.join());
  }

  on("click", "#rules :is([name=up], [name=down])", (button: HTMLButtonElement, event) => {
    const rule = button.closest<HTMLElement>("[data-rule]");
    if (rule !== null && formOf() !== null) {
      event.preventDefault();
      recordOrder();
      if (moveItem(rule, rules, button.name === "up")) {
        button.focus();
        finishMove(rule);
      }
    }
  });
  on("click", "[data-put-back]", () => resetOrder(original));
  dragByHandle({ items: rules, onStart: recordOrder, onMove: finishMove });
}

function listOf(): HTMLElement | null {
  return document.getElementById("rules");
}

function formOf(): HTMLFormElement | null {
  return document.querySelector<HTMLFormElement>("form#rule-order");
}

function rulesOf(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(rules)];
}

/** Returns the ids of the rules in their current order. */
function order(): string[] {
  return rulesOf().map((rule) => rule.dataset.rule ?? "");
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
  const byId = new Map(rulesOf().map((rule) => [rule.dataset.rule, rule]));
  listOf()?.prepend(...original.flatMap((id) => byId.get(id) ?? []));
  announce("The original order is back.");
  setChanged(false);
}
