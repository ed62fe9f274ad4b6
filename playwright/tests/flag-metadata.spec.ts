import { expectAccessible } from "../support/accessible.ts";
import { expect, signIn, test } from "../support/test.ts";

// The expiry is a date in UTC, also where the day begins later.
test.use({ timezoneId: "America/Los_Angeles" });

test("a flag has tags, an owner, a kind and an expiry, and is found by them", async ({
  page,
  server,
  api,
  javaScriptEnabled,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 4\d\d/);
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("plain", "Plain");
  await signIn(page, server);
  await page.goto("/dashboard/new-flag");
  await page.getByLabel("Name").fill("New checkout");
  await page.getByLabel("Key").fill("new_checkout");
  await page.getByRole("textbox", { name: "Tags" }).fill("web, checkout");
  await page.getByRole("textbox", { name: "Owner" }).fill("Team Payments");
  await page.getByLabel("Kind").selectOption("Kill switch");
  await page.getByLabel("Expires").fill("2020-03-01");
  await page.getByRole("button", { name: "Create flag" }).click();

  await expect(page.getByRole("list", { name: "Tags" })).toHaveText("checkoutweb");
  const facts = page.locator(".flag-facts");
  await expect(facts).toContainText("Kill switch");
  await expect(facts).toContainText("Team Payments");
  await expect(facts).toContainText("Expired2020-03-01 (UTC)");
  if (javaScriptEnabled) {
    await expectAccessible(page);
  }
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await expect(page.getByRole("textbox", { name: "Tags" })).toHaveValue("checkout, web");
  await expect(page.getByLabel("Expires")).toHaveValue("2020-03-01");
  const tags = page.getByRole("textbox", { name: "Tags" });
  await tags.fill(`ops, ${"x".repeat(51)}`);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(tags).toHaveAccessibleDescription(/The tag x{30}… must have at most 50 characters/);
  await tags.fill("ops");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "ops", exact: true }).click();

  await expect(page).toHaveURL(/\/dashboard\/flags\?tag=ops$/);
  await expect(page.getByRole("link", { name: "New checkout" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Plain" })).toHaveCount(0);
  await expect(page.locator(".flag-tags")).toContainText("ops");
  await expect(page.getByText("Stale", { exact: true })).toHaveAttribute("title", "Expired");
  if (javaScriptEnabled) {
    await expectAccessible(page);
  }
  await page.goto("/dashboard/flags?kind=release");
  await expect(page.getByLabel("Kind")).toHaveValue("release");
  await expect(page.getByText("No flags match these filters")).toBeVisible();
});
