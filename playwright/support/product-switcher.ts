import type { Locator, Page } from "@playwright/test";
import { scriptsReady } from "./test.ts";

/** Locates the field for the product in the sidebar. */
export function productSwitcher(page: Page): Locator {
  return page.getByRole("combobox", { name: "Product", exact: true });
}

/** Chooses a product in the sidebar. Without scripts, that takes a button. */
export async function chooseProduct(
  page: Page,
  product: string,
  javaScriptEnabled: boolean,
): Promise<void> {
  if (javaScriptEnabled) {
    await scriptsReady(page);
  }
  await productSwitcher(page).selectOption(product);
  if (!javaScriptEnabled) {
    await page.locator(".product-switcher").getByRole("button", { name: "Show" }).click();
  }
}
