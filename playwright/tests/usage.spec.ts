import { evaluate } from "../support/api.ts";
import { expect, signIn, test } from "../support/test.ts";

test("usage is shown by result and by reason, as a chart and as a table", async ({
  page,
  server,
  api,
}) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.switch(flag, production, true);
  await evaluate(server, staging.sdkKey, "new_checkout");
  await evaluate(server, production.sdkKey, "new_checkout");
  await evaluate(server, production.sdkKey, "new_checkout");
  await server.restart();

  await signIn(page, server);
  const row = page.getByRole("row", { name: "New checkout" });
  await expect(row.getByText("just now").first()).toBeVisible();
  await row.getByRole("link", { name: "3 evaluations in the last 24 hours" }).click();
  await expect(page).toHaveTitle(/^Usage of new_checkout · Flags/);
  await expect(page.getByRole("img", { name: "3 evaluations in the last 24 hours" })).toBeVisible();
  await page.getByText("Numbers").click();
  const numbers = page.getByRole("region", { name: "Numbers" });
  await expect(numbers.getByRole("columnheader")).toHaveText(["From", "On", "Off", "Total"]);
  await expect(numbers.getByRole("row").nth(1).getByRole("cell")).toHaveText(["2", "1", "3"]);
  await page.getByRole("link", { name: "By reason" }).click();
  await expect(page).toHaveURL(/\?by=reason$/);
  await page.getByText("Numbers").click();
  await expect(numbers.getByRole("columnheader")).toHaveText([
    "From",
    "On for everyone",
    "Off",
    "Total",
  ]);
  await page.getByRole("link", { name: "By result" }).click();
  await expect(page).toHaveURL(/\/usage$/);

  // The changes are marked at their times, and listed.
  const changes = page.locator(".usage-changes li");
  await expect(changes).toHaveText([
    /turned new_checkout on in production/,
    /created new_checkout/,
  ]);
  const mark = page.locator(".chart-mark").first();
  await expect(mark).toHaveAccessibleName(/^\d{4}-\d\d-\d\d \d\d:\d\d: \S+ turned new_checkout on/);
  const sentence = changes.first().locator(".action-sentence");
  await expect(mark).toHaveAttribute("href", `#${await sentence.getAttribute("id")}`);

  await page.getByRole("link", { name: "production", exact: true }).click();
  await expect(
    page.getByRole("img", { name: "2 evaluations in production in the last 24 hours" }),
  ).toBeVisible();
  await expect(changes).toHaveCount(2);
  await page.goto(page.url().replace(production.id, staging.id));
  await expect(changes).toHaveText([/created new_checkout/]);
  await page.goBack();
  await page.getByRole("link", { name: "30d" }).click();
  await expect(page).toHaveURL(/environment=[0-9a-f-]{36}&period=30d$/);
  await expect(
    page.getByRole("img", { name: "2 evaluations in production in the last 30 days" }),
  ).toBeVisible();
  await expect(page.getByRole("link", { name: "30d" })).toHaveAttribute("aria-current", "true");
});

test("an unused flag explains how to use it", async ({ page, server, api }) => {
  await api.createFlag("new_checkout", "New checkout");
  await page.goto("/dashboard/flags/new_checkout/usage");
  await signIn(page, server);
  await expect(page.getByText("Not evaluated yet")).toBeVisible();
  await expect(page.getByText("reportUsage: true")).toBeVisible();
});

test("the usage page of a missing flag is not found", async ({ page, server, browserErrors }) => {
  browserErrors.ignore(/status of 404/);
  await page.goto("/dashboard/flags/nothing/usage");
  await signIn(page, server);
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
});
