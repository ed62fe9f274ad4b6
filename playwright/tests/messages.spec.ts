import { address, shop } from "../support/flag-page.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test.describe("a message", { tag: "@scripts" }, () => {
  test("disappears after ten seconds, but not under the pointer", async ({ page, server, api }) => {
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("new_checkout", "New checkout");
    await page.clock.install();
    await signIn(page, server);
    await scriptsReady(page);
    await page.getByRole("switch").click();
    const message = page.locator(".toast");
    await expect(message).toContainText("New checkout is on in staging.");
    await page.clock.runFor(3_000);
    await message.hover();
    await page.clock.runFor(20_000);
    await expect(message).toBeVisible();
    await page.getByRole("heading", { level: 1 }).hover();
    await page.clock.runFor(10_000);
    await expect(message).toHaveCount(0);
  });

  test("about a form disappears after ten seconds, too", async ({ page, server, api }) => {
    await shop(api);
    await page.clock.install();
    await signIn(page, server);
    await page.goto(`${address}?edit=ttl`);
    await page.getByLabel("TTL (time to live) in seconds").fill("30");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.locator(".toast")).toBeVisible();
    await scriptsReady(page);
    await page.getByRole("heading", { level: 1 }).hover();
    await page.clock.runFor(20_000);
    await expect(page.locator(".toast")).toHaveCount(0);
  });

  test("about a refusal stays until the next one", async ({
    page,
    context,
    server,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 401/);
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("new_checkout", "New checkout");
    await page.clock.install();
    await signIn(page, server);
    await scriptsReady(page);
    await context.clearCookies();
    await page.getByRole("switch").click();
    const refusal = page.getByRole("alert");
    await expect(refusal).toContainText("Not switched");
    await page.clock.runFor(60_000);
    // It offers nothing to undo.
    await expect(refusal.getByRole("button")).toHaveAccessibleName("Close");
    await page.getByRole("switch").click();
    await expect(refusal).toHaveCount(1);
    await refusal.getByRole("link", { name: "Sign in" }).click();
    await expect(page).toHaveURL(/\/dashboard\/login/);
  });
});
