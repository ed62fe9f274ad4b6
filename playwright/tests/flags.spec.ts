import { evaluate } from "../support/api.ts";
import { expect, signIn, test } from "../support/test.ts";

test("a new flag is listed, and off in every environment", async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  await signIn(page, server);
  await page.getByRole("link", { name: "New flag" }).first().click();
  await page.getByLabel("Name").fill("New checkout");
  await page.getByLabel("Key").fill("new_checkout");
  await page.getByLabel("Description").fill("Checkout in one page. Goes when it is everywhere.");
  await page.getByRole("button", { name: "Create flag" }).click();

  const row = page.getByRole("row", { name: "New checkout" });
  await expect(row).toContainText("new_checkout");
  const switches = row.getByRole("switch");
  await expect(switches).toHaveCount(2);
  await expect(switches.first()).toHaveAccessibleName("New checkout in production");
  for (const each of await switches.all()) {
    await expect(each).not.toBeChecked();
  }
});

test("a key that no flag can have is refused, and what was typed stays", async ({
  page,
  server,
  complaints,
}) => {
  complaints.forgive(/status of 4\d\d/);
  await signIn(page, server);
  await page.goto("/dashboard/flags/new");
  await page.getByLabel("Name").fill("New checkout");
  await page.getByLabel("Key").fill("new checkout!");
  await page.getByRole("button", { name: "Create flag" }).click();

  await expect(page.getByLabel("Key")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Key")).toHaveValue("new checkout!");
  await expect(page.getByLabel("Name")).toHaveValue("New checkout");
});

test("a switch changes what applications are told, and stays", async ({ page, server, api }) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);

  const inStaging = page.getByRole("switch", { name: "New checkout in staging" });
  const inProduction = page.getByRole("switch", { name: "New checkout in production" });
  await expect(inStaging).not.toBeChecked();
  await inStaging.click();
  await expect(inStaging).toBeChecked();
  await expect
    .poll(() => evaluate(server, staging.sdkKey, "new_checkout"))
    .toEqual({ enabled: true, reason: "flag_enabled" });
  expect(await evaluate(server, production.sdkKey, "new_checkout")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });

  await page.goto("/dashboard/flags");
  await expect(inStaging).toBeChecked();
  await expect(inProduction).not.toBeChecked();

  await inStaging.click();
  await expect(inStaging).not.toBeChecked();
  await expect
    .poll(() => evaluate(server, staging.sdkKey, "new_checkout"))
    .toEqual({ enabled: false, reason: "flag_disabled" });
});

test("a switch does not load the page anew", { tag: "@scripts" }, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  // The hint of the search field is what an island of this page adds last.
  await expect(page.getByText("/", { exact: true })).toBeVisible();

  let loads = 0;
  page.on("framenavigated", () => loads++);
  const answered = page.waitForResponse((answer) => answer.url().includes("/dashboard/api/"));
  await page.getByRole("switch", { name: "New checkout in staging" }).click();
  expect((await answered).ok()).toBe(true);
  await expect(page.getByRole("switch", { name: "New checkout in staging" })).toBeChecked();
  expect(loads).toBe(0);
});

test("a switch that is refused goes back and says why", { tag: "@scripts" }, async ({
  page,
  context,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 401/);
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await expect(page.getByText("/", { exact: true })).toBeVisible();

  await context.clearCookies();
  const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
  await flagSwitch.click();
  await expect(page.getByRole("alert")).toContainText("Not switched");
  await expect(flagSwitch).not.toBeChecked();
});

test("a search finds flags by name and by key", async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "Checkout in one page");
  await api.createFlag("dark_mode", "Dark colours");
  await signIn(page, server);

  const search = page.getByRole("searchbox", { name: "Search name or key" });
  await search.fill("CHECKOUT in");
  await search.press("Enter");
  await expect(page.getByRole("row", { name: "Checkout in one page" })).toBeVisible();
  await expect(page.getByRole("row", { name: "Dark colours" })).toBeHidden();

  await search.fill("dark_");
  await search.press("Enter");
  await expect(page.getByRole("row", { name: "Dark colours" })).toBeVisible();
  await expect(page.getByRole("row", { name: "Checkout in one page" })).toBeHidden();
});

test("an archived flag is found among the archived ones", async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.archive(await api.createFlag("old_banner", "Old banner"));
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await expect(page.getByRole("row", { name: "Old banner" })).toHaveCount(0);

  await page.getByRole("link", { name: "Archived" }).click();
  const row = page.getByRole("row", { name: "Old banner" });
  await expect(row).toBeVisible();
  for (const each of await row.getByRole("switch").all()) {
    await expect(each).toBeDisabled();
  }
});
