import type { Locator, Page } from "@playwright/test";
import type { Api } from "../support/api.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test.describe("an update that moves controls", { tag: "@scripts" }, () => {
  /** Creates three flags that are on in an environment, and returns it. */
  async function createFlags(api: Api) {
    const production = await api.createEnvironment("Web shop", "production");
    for (const name of ["Ants", "Bees", "Cats"]) {
      await api.switch(await api.createFlag(name.toLowerCase(), name), production, true);
    }
    return production;
  }

  /** Returns the switch of a flag. */
  function switchOf(page: Page, name: string): Locator {
    return page.getByRole("switch", { name: `${name} in production` });
  }

  /** Returns a click at the current place of an element, wherever the element is later. */
  async function clickAtPlaceOf(page: Page, target: Locator): Promise<() => Promise<void>> {
    const box = await target.boundingBox();
    if (box === null) {
      throw new Error("The element is not visible.");
    }
    const { x, y, width, height } = box;
    const place = [x + width / 2, y + height / 2] as const;
    await page.mouse.move(...place);
    return () => page.mouse.click(...place);
  }

  test("waits after a switch was used, so that a second click takes it back", async ({
    page,
    server,
    api,
  }) => {
    const production = await createFlags(api);
    await signIn(page, server);
    await page.goto(`/dashboard/flags?environment=${production.id}&is=on&sort=name`);
    await scriptsReady(page);
    const click = await clickAtPlaceOf(page, switchOf(page, "Bees"));
    const update = page.waitForResponse("**/dashboard/flags?*");
    await click();
    await expect(page.getByText("Bees is off in production.")).toBeVisible();
    await (await update).finished();
    await click();
    await expect(page.getByText("Bees is on in production.")).toBeVisible();
    await click();
    await expect(page.getByText("Bees is off in production.")).toBeVisible();
    await expect(switchOf(page, "Cats")).toBeChecked();
    // The flag leaves the list once the pointer does.
    await page.getByRole("heading", { level: 1 }).hover();
    await expect(switchOf(page, "Bees")).toHaveCount(0);
    await expect(switchOf(page, "Cats")).toBeChecked();
  });

  test("waits while somebody points at a control, but not for long", async ({
    page,
    server,
    api,
  }) => {
    await page.clock.install();
    const production = await createFlags(api);
    await signIn(page, server);
    await scriptsReady(page);
    const ants = switchOf(page, "Ants");
    const click = await clickAtPlaceOf(page, ants);
    const update = page.waitForResponse("**/dashboard/flags");
    const flag = await api.createFlag("dark_mode", "Dark mode");
    await page.clock.runFor(1_000);
    await (await update).finished();
    await page.clock.runFor(1_000);
    await click();
    await expect(page.getByText("Ants is off in production.")).toBeVisible();
    await expect(switchOf(page, "Dark mode")).toHaveCount(0);
    await page.clock.runFor(12_000);
    await expect(switchOf(page, "Dark mode")).toBeVisible();

    // The pointer is at another switch now. An update that moves nothing does not wait for it.
    await api.switch(flag, production, true);
    await page.clock.runFor(1_000);
    await expect(switchOf(page, "Dark mode")).toBeChecked();
  });

  test("waits for links to reverts", async ({ page, server, api }) => {
    await page.clock.install();
    await createFlags(api);
    await signIn(page, server);
    await page.goto("/dashboard/incident");
    await scriptsReady(page);
    const row = page.locator(".action-row").filter({ hasText: "turned cats on" });
    const revert = row.getByRole("link", { name: "Revert" });
    const click = await clickAtPlaceOf(page, revert);
    const href = await revert.getAttribute("href");
    const update = page.waitForResponse("**/dashboard/incident");
    await api.createFlag("dark_mode", "Dark mode");
    await page.clock.runFor(1_000);
    await (await update).finished();
    await page.clock.runFor(1_000);
    await click();
    await expect(page).toHaveURL(`${href}`);
  });

  test.describe("on a phone", () => {
    test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

    test("waits for a moment after a tap", async ({ page, server, api }) => {
      await page.clock.install();
      const production = await createFlags(api);
      await signIn(page, server);
      await page.goto(`/dashboard/flags?environment=${production.id}&is=on&sort=name`);
      await scriptsReady(page);
      const bees = switchOf(page, "Bees");
      // From here on, time passes only with the test.
      await page.clock.pauseAt(Date.now() + 1_000);
      await bees.tap();
      await expect(page.getByText("Bees is off in production.")).toBeVisible();
      const update = page.waitForResponse("**/dashboard/flags?*");
      await page.clock.runFor(500);
      await (await update).finished();
      await page.clock.runFor(500);
      await expect(bees).toBeVisible();
      await page.clock.runFor(2_000);
      await expect(bees).toHaveCount(0);
    });
  });
});
