import { on } from "./dom.ts";

/** Makes the buttons of common percentages fill in the number of their form. */
export function listenToPresets(): void {
  on("click", "[data-percentage]", (button: HTMLButtonElement) => {
    const number = button.form?.querySelector<HTMLInputElement>("[name=percentage]");
    if (number) {
      number.value = button.dataset.percentage ?? "";
      number.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }
  });
}
