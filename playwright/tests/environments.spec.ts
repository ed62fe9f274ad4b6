import type { Page } from "@playwright/test";
import { evaluate } from "../support/api.ts";
import { expect, signIn, test } from "../support/test.ts";

async function createEnvironment(page: Page, product: string, name: string): Promise<void> {
  await page.goto("/dashboard/environments/new");
  await page.getByLabel("Product").fill(product);
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create environment" }).click();
}

async function shownKey(page: Page): Promise<string> {
  const key = page.getByRole("region", { name: "SDK key" }).getByText(/^pnk_[\w-]{43}$/);
  return key.innerText();
}

test("a new environment's key works, and is shown once", async ({ page, server, api }) => {
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await createEnvironment(page, "Web shop", "staging");
  const key = await shownKey(page);
  expect(await evaluate(server, key, "new_checkout")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });

  await page.getByRole("link", { name: "I have stored the key" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("staging");
  await page.goto("/dashboard/environments");
  const row = page.getByRole("row", { name: "staging" });
  await expect(row).toContainText(key.slice(0, 12));
  expect(await page.content()).not.toContain(key.slice(13));
});

test("a button copies the key", { tag: "@scripts" }, async ({ page, context, server }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page, server);
  await createEnvironment(page, "Web shop", "staging");
  const copy = page.getByRole("button", { name: "Copy key" });
  await expect(page.locator(":root[data-scripts]")).toBeAttached();
  await copy.click();
  await expect(copy).toContainText("Copied");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await shownKey(page));
});

test("a second environment with the same name is refused, and the input is kept", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await createEnvironment(page, "Web shop", "staging");

  await expect(page.getByLabel("Name")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Name")).toHaveValue("staging");
  await expect(page.getByLabel("Product")).toHaveValue("Web shop");
});
