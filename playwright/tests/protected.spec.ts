import type { Locator, Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import { country, createCheckoutFlag, flagAddress, ruleLines } from "../support/flag-page.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

/** Locates the visible field for the reason. */
function reasonField(page: Page): Locator {
  return page.getByRole("textbox", { name: /^Reason/ }).filter({ visible: true });
}

test("every change of a protected environment is confirmed, and nothing changes before", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.protect(production);
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${production.id}&edit=rollout`);
  await page.getByLabel("Percentage", { exact: true }).fill("30");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "Roll out checkout_v2 to 30% in production?",
  );
  await expect(page.getByText("production is protected.")).toBeVisible();
  await page.getByRole("button", { name: "Cancel" }).click();
  // The form is open again, with its input.
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeVisible();
  await expect(page.getByLabel("Percentage", { exact: true })).toHaveValue("30");
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toEqual({
    enabled: true,
    reason: "flag_enabled",
  });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await reasonField(page).fill("Second wave");
  await page.getByRole("button", { name: "Roll out checkout_v2 to 30%" }).click();
  await expect(page.locator("#rollout")).toContainText("30% of everyone left is ON");

  await page.goto(`${flagAddress}?environment=${production.id}&edit=rollout`);
  await page.getByLabel("Percentage", { exact: true }).fill("60");
  await page.getByRole("button", { name: "Save rollout" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "Roll out checkout_v2 from 30% to 60% in production?",
  );

  await page.goto(`${flagAddress}/history`);
  const newest = page.locator(".timeline").getByRole("listitem").first();
  await expect(newest).toContainText("Reason: Second wave");
});

test("a change of an environment that requires a reason waits for one", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.protect(production, true);
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${production.id}`);
  await page.getByRole("link", { name: "Delete" }).click();
  const reason = reasonField(page);
  await page.getByRole("button", { name: "Delete rule" }).click();
  await expect(reason).toBeFocused();
  await reason.fill("No longer needed");
  await page.getByRole("button", { name: "Delete rule" }).click();
  await expect(ruleLines(page)).toHaveText(["everyone is ON"]);

  await page.getByRole("switch").click();
  const turnOff = page.getByRole("button", { name: "Turn off in production" });
  await turnOff.click();
  await expect(reasonField(page)).toBeFocused();
  expect((await evaluate(server, production.sdkKey, "checkout_v2")).enabled).toBe(true);
  await reasonField(page).fill("INC-481");
  await turnOff.click();
  await expect(page.getByRole("switch")).not.toBeChecked();
  await page.goto(`${flagAddress}/history`);
  await expect(page.locator(".timeline")).toContainText("Reason: INC-481");
});

test("a blank reason for a switch keeps the question open", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { production } = await createCheckoutFlag(api);
  await api.protect(production, true);
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${production.id}`);
  await scriptsReady(page);
  await page.getByRole("switch").click();
  await expect(reasonField(page)).toBeFocused();
  await reasonField(page).fill("  ");
  await page.getByRole("button", { name: "Turn off in production" }).click();
  await expect(reasonField(page)).toBeFocused();
  await expect(reasonField(page)).toHaveValue("");
  // A reason belongs to one change.
  await reasonField(page).fill("INC-481");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("switch").click();
  await expect(reasonField(page)).toHaveValue("");
  await expect(page.locator("#switch-question .optional")).toBeHidden();
  expect((await evaluate(server, production.sdkKey, "checkout_v2")).enabled).toBe(true);
});

test("a new environment is protected if its name suggests production, and that can be changed", async ({
  page,
  server,
}) => {
  await signIn(page, server);
  for (const [name, protection, isProtected] of [
    ["production", undefined, true],
    ["staging", undefined, false],
    ["live", "No", false],
    ["demo", "Yes, protect it", true],
  ] as const) {
    await page.goto("/dashboard/environments/new");
    await page.getByLabel("Product").fill("Web shop");
    await page.getByLabel("Name").fill(name);
    if (protection !== undefined) {
      await page.getByLabel("Ask before changes").selectOption({ label: protection });
    }
    await page.getByRole("button", { name: "Create environment" }).click();
    await expect(page.locator(".secret code")).toBeVisible();
    await page.goto("/dashboard/environments");
    await page.getByRole("link", { name, exact: true }).click();
    await expect(page.getByLabel("Protected")).toBeChecked({ checked: isProtected });
  }
  await page.getByLabel("Protected").uncheck();
  await page.getByLabel("Require a reason").check();
  await page.getByRole("button", { name: "Change safeguards" }).click();
  await page.getByRole("button", { name: "Change the safeguards" }).click();
  await expect(page.getByLabel("Require a reason")).toBeChecked();
  await expect(page.getByLabel("Protected")).not.toBeChecked();

  await page.getByRole("textbox", { name: "Name", exact: true }).fill("demo 2");
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Rename demo?");
  await reasonField(page).fill("   ");
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByText("Enter a reason.")).toBeVisible();
  await reasonField(page).fill("Clearer name");
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("demo 2");
});

test("the pages of protected environments are accessible", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  test.slow();
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.protect(production, true);
  await signIn(page, server);
  for (const path of ["new", production.id]) {
    await page.goto(`/dashboard/environments/${path}`);
    await expectAccessible(page);
  }
  await page.goto(`${flagAddress}?environment=${production.id}`);
  await scriptsReady(page);
  await page.getByRole("switch").click();
  await expect(reasonField(page)).toBeVisible();
  await expectAccessible(page);
  await page.goto(`${flagAddress}?environment=${production.id}&edit=rollout`);
  await page.getByLabel("Percentage", { exact: true }).fill("30");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("button", { name: "Roll out checkout_v2 to 30%" })).toBeVisible();
  await expectAccessible(page);
  await reasonField(page).fill("Second wave");
  await page.getByRole("button", { name: "Roll out checkout_v2 to 30%" }).click();
  await expect(page.locator("#rollout")).toContainText("30%");
  await page.goto(`${flagAddress}/history`);
  await expectAccessible(page);
});
