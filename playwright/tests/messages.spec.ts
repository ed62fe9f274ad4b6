import { createCheckoutFlag, flagAddress } from "../support/flag-page.ts";
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
    await createCheckoutFlag(api);
    await page.clock.install();
    await signIn(page, server);
    await page.goto(`${flagAddress}?edit=ttl`);
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

  test("returns the focus when it is closed, and after its change was undone", async ({
    page,
    server,
    api,
  }) => {
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("new_checkout", "New checkout");
    await signIn(page, server);
    await scriptsReady(page);
    const flagSwitch = page.getByRole("switch");
    for (const [name, text] of [
      ["Close", "New checkout is on in staging."],
      ["Undo", "New checkout is off in staging."],
    ] as const) {
      await flagSwitch.focus();
      await page.keyboard.press("Space");
      await expect(page.getByText(text)).toBeVisible();
      await page.locator(".toast").getByRole("button", { name }).focus();
      await page.keyboard.press("Enter");
      await expect(page.getByText(text)).toHaveCount(0);
      await expect(flagSwitch).toBeFocused();
    }
    await expect(page.getByText("New checkout is on again in staging.")).toBeVisible();
  });
});
