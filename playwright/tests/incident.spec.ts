import type { Locator, Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { type Api, type Environment, evaluate, type Flag } from "../support/api.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

const rows = (page: Page): Locator => page.locator(".action-row");

type Shop = { readonly production: Environment; readonly flags: readonly Flag[] };

/** Creates a shop in which somebody has just changed eight flags. The newest change is a rollout from 10 to 50 percent. */
async function brokenShop(api: Api): Promise<Shop> {
  const production = await api.createEnvironment("Web shop", "production");
  await api.createEnvironment("Web shop", "staging");
  await api.protect(production);
  const flags: Flag[] = [];
  for (const key of ["banner", "search", "videos", "baskets", "slots", "gifts", "returns"]) {
    const flag = await api.createFlag(key, `The ${key} of the shop`);
    flags.push(flag);
  }
  const checkout = await api.createFlag("checkout_v2", "New checkout");
  await api.switch(checkout, production, true);
  await api.setRollout(checkout, production, 10);
  for (const flag of flags) {
    await api.switch(flag, production, true);
  }
  await api.setRollout(checkout, production, 50);
  return { production, flags: [...flags, checkout] };
}

/** Taps, and counts the taps. */
class Finger {
  taps = 0;

  async tap(target: Locator): Promise<void> {
    this.taps += 1;
    await target.tap();
  }
}

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("the newest change is found and taken back in five taps", async ({
    page,
    server,
    api,
    javaScriptEnabled,
  }) => {
    const { production } = await brokenShop(api);
    const engineer = await api.createUser("eve@example.com", "editor");
    await signIn(page, engineer);
    const finger = new Finger();
    await finger.tap(page.getByRole("button", { name: "Menu" }));
    await finger.tap(page.getByRole("link", { name: "Audit" }));
    await finger.tap(page.getByRole("link", { name: "Recent changes" }));
    await expect(page.getByRole("heading", { level: 1 })).toContainText("Recent changes");

    const first = rows(page).first();
    await expect(first).toContainText(
      "changed the rollout of checkout_v2 from 10% to 50% in production",
    );
    await expect(first.getByText(server.email)).toBeVisible();
    for (let index = 0; index < 6; index++) {
      await expect(rows(page).nth(index)).toBeInViewport({ ratio: 1 });
      const link = await rows(page).nth(index).getByRole("link", { name: "Revert" }).boundingBox();
      expect(link?.height).toBeGreaterThanOrEqual(44);
    }
    if (javaScriptEnabled) {
      await expectAccessible(page);
    }

    await finger.tap(first.getByRole("link", { name: "Revert" }));
    await finger.tap(page.getByRole("button", { name: "Revert in production" }));
    await expect(page.getByRole("heading", { level: 1 })).toContainText("History of checkout_v2");
    expect(finger.taps).toBeLessThanOrEqual(5);
    const restored = await evaluate(server, production.sdkKey, "checkout_v2", { userId: "ada" });
    // The bucket of "ada" is 63, and 10% are on again.
    expect(restored).toMatchObject({ enabled: false, reason: "rollout" });
    const changes = page.locator(".timeline").getByRole("listitem");
    await expect(changes.first()).toContainText("to 10% in production");
  });

  test("all recent changes are taken back at once", async ({
    page,
    server,
    api,
    javaScriptEnabled,
  }) => {
    const { production, flags } = await brokenShop(api);
    await signIn(page, server);
    await page.goto("/dashboard/incident?last=15m");
    await page.getByLabel("Environment").selectOption("production");
    await page.getByLabel("Groups").selectOption("By flag");
    await page.getByRole("button", { name: "Show" }).tap();
    // The creation and the protection of the environment are among the changes.
    const groups = page.getByRole("heading", { level: 2 });
    await expect(groups.first()).toHaveText("checkout_v2 3");
    await expect(groups.last()).toHaveText("Environments 2");
    await expect(rows(page)).toHaveCount(12);

    await page.getByRole("link", { name: "Revert all of these" }).tap();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Revert 11 changes");
    if (javaScriptEnabled) {
      await expectAccessible(page);
    }
    await page.getByRole("button", { name: "Revert 11 changes in production" }).tap();
    await expect(page).toHaveURL(/\/dashboard\/incident\?last=15m&environment=[^&]+&by=flag$/);
    for (const { key } of flags) {
      const state = await evaluate(server, production.sdkKey, key);
      expect(state, key).toEqual({ enabled: false, reason: "flag_disabled" });
    }
    await expect(rows(page).first()).toContainText("made 10 changes to 8 flags in production");
  });
});

test("a change that cannot be reverted is named, and a change meanwhile is not overwritten", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const production = await api.createEnvironment("Web shop", "production");
  const checkout = await api.createFlag("checkout_v2", "New checkout");
  const search = await api.createFlag("search", "Search");
  await api.switch(checkout, production, true);
  await api.setRollout(search, production, 30);
  await signIn(page, server);
  await page.goto("/dashboard/incident?by=person");
  await expect(page.getByRole("heading", { level: 2 })).toHaveText(`${server.email} 5`);
  await page.getByLabel("Environment").selectOption("production");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(rows(page)).toHaveCount(3);
  await api.archive(search);
  await page.getByRole("link", { name: "Revert all of these" }).click();
  const kept = page.getByRole("region", { name: "Cannot be reverted" });
  await expect(kept).toContainText("search");
  await expect(kept).toContainText("The flag is archived; restore it first.");

  const revert = page.getByRole("button", { name: "Revert 1 change in production" });
  await expect(revert).toBeVisible();
  await api.setRollout(checkout, production, 5);
  await revert.click();
  await expect(page.getByRole("alert")).toContainText("Somebody else changed this first");
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toMatchObject({
    reason: "rollout",
  });
  await revert.click();
  await expect(page).toHaveURL(/\/dashboard\/incident\?/);
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });
});

test("an hour without changes says so", { tag: "@scripts" }, async ({ page, server }) => {
  await signIn(page, server);
  await page.goto("/dashboard/incident");
  await expect(page.getByText("No changes in the last hour")).toBeVisible();
  await expectAccessible(page);
});

test("the palette opens the recent changes", { tag: "@scripts" }, async ({ page, server, api }) => {
  await api.createFlag("checkout_v2", "New checkout");
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("button", { name: "Jump to" }).click();
  const palette = page.getByRole("dialog", { name: "Jump to" });
  await palette.getByRole("combobox").fill("incident");
  await palette.getByRole("option", { name: "Incident: recent changes" }).click();
  await expect(rows(page)).toHaveText([/created checkout_v2/i]);
});

test("an entry of the audit log leads to the flag in its environment, and to its history", async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  const checkout = await api.createFlag("checkout_v2", "New checkout");
  await api.switch(checkout, production, true);
  await signIn(page, server);
  await page.goto("/dashboard/audit");
  const newest = page.locator(".timeline > li").first();
  await newest.getByRole("link", { name: "checkout_v2", exact: true }).click();
  await expect(page).toHaveURL(
    new RegExp(`/dashboard/flags/checkout_v2\\?environment=${production.id}$`),
  );
  await page.goBack();
  await newest.getByRole("link", { name: "History of checkout_v2" }).click();
  await expect(page).toHaveURL(/\/dashboard\/flags\/checkout_v2\/history$/);
});

test("the audit log is limited by person, action and minute", async ({ page, server, api }) => {
  const checkout = await api.createFlag("checkout_v2", "New checkout");
  const eve = await api.createUser("eve@example.com", "editor");
  await api.archive(checkout);
  await signIn(page, eve);
  await page.goto("/dashboard/audit");
  const entries = page.locator(".timeline > li");
  await expect(entries).toHaveCount(2);
  await page.getByLabel("Person").fill(server.email);
  await page.getByLabel("Action").selectOption("Flag archived");
  await page.getByLabel("From").fill("2020-01-01T12:00");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(entries).toHaveText([/archived checkout_v2/]);
  await expect(page.getByLabel("From")).toHaveValue("2020-01-01T12:00");
  await page.getByLabel("To", { exact: true }).fill("2020-01-01T13:00");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(page.getByText("No changes match these filters")).toBeVisible();
  await page.getByRole("link", { name: "Show all changes" }).click();
  await page.getByLabel("Person").fill("eve@example.com");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(entries).toHaveCount(0);
});
