import { expect, type Page } from "@playwright/test";

/** Opens the page of an environment from the list. */
export async function openEnvironment(page: Page, name: string): Promise<void> {
  await page.goto("/dashboard/environments");
  await page.getByRole("link", { name, exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText(name);
}
