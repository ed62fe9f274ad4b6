import { expect, type Locator, type Page } from "@playwright/test";
import type { Api, Rule } from "./api.ts";

export const address = "/dashboard/flags/checkout_v2";

/** ON for a country. */
export function country(name: string, priority: number, value = true): Rule {
  return {
    priority,
    logic: "and",
    value,
    conditions: [{ attribute: "country", operator: "==", valueType: "string", valueString: name }],
  };
}

/** Two environments and a flag that is on in both of them. */
export async function shop(api: Api) {
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout", "Checkout in one page.");
  await api.switch(flag, staging, true);
  await api.switch(flag, production, true);
  return { staging, production, flag };
}

/** What the page says first of the flag in an environment. */
export function standing(page: Page): Locator {
  return page.locator("#standing");
}

/** Goes on by the keyboard until something has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) {
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`The keyboard does not lead to ${target}`);
}

/** The field for a condition's value: the one for values of its type. */
export function operand(within: Page | Locator): Locator {
  return within.locator("[name=operand]:enabled");
}

/** Waits until the scripts of the form are there. */
export async function alive(page: Page): Promise<void> {
  await expect(page.locator("#rule-form[data-ready]")).toBeVisible();
}

/** The lines of the list, as one reads them. */
export function steps(page: Page): Locator {
  return page.locator("#rules .step-text");
}
