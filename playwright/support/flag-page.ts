import { expect, type Locator, type Page } from "@playwright/test";
import type { Api, Rule } from "./api.ts";

export const flagAddress = "/dashboard/flags/checkout_v2";

/** Returns a rule for one country, by default ON. */
export function country(name: string, priority: number, value = true): Rule {
  return {
    priority,
    logic: "and",
    value,
    conditions: [{ attribute: "country", operator: "==", valueType: "string", valueString: name }],
  };
}

/** Creates two environments, and a flag that is on in both of them. */
export async function createCheckoutFlag(api: Api) {
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout", "Checkout in one page.");
  await api.switch(flag, staging, true);
  await api.switch(flag, production, true);
  return { staging, production, flag };
}

/** Locates the summary of the flag's status in an environment, at the top of the page. */
export function flagStatus(page: Page): Locator {
  return page.locator("#configuration");
}

/** Presses Tab until an element has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) {
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`The keyboard does not lead to ${target}`);
}

/** Locates the field for a condition's value, which depends on the value's type. */
export function operand(within: Page | Locator): Locator {
  return within.locator("[name=operand]:enabled");
}

/** Waits until the scripts of the rule form are ready. */
export async function ruleFormReady(page: Page): Promise<void> {
  await expect(page.locator("#rule-form[data-ready]")).toBeVisible();
}

/** Locates the lines of the rule list, as text. */
export function ruleLines(page: Page): Locator {
  return page.locator("#rules .step-text");
}
