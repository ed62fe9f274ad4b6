import type { Page } from "@playwright/test";
import { servePlain, serveReact, shopFlags, switchBanner } from "../support/shop.ts";
import { expect, signIn, test } from "../support/test.ts";

/** Resolves when the page has asked in vain, after whatever it had open was cut off. */
function asksInVain(page: Page): Promise<unknown> {
  return page.waitForEvent("requestfailed", (request) =>
    Boolean(request.failure()?.errorText.includes("ERR_CONNECTION_REFUSED")),
  );
}

/** Lets the page's time pass in leaps until something holds. */
async function whileTimePasses(page: Page, holds: () => Promise<void>): Promise<void> {
  let over = false;
  const held = holds().finally(() => {
    over = true;
  });
  while (!over) {
    await page.clock.runFor(1_000);
  }
  await held;
}

for (const [name, serve] of [
  ["a React page", serveReact],
  ["a page without a bundler", servePlain],
] as const) {
  test(
    `${name} that was opened while the service was down has flags when it is there`,
    { tag: "@scripts" },
    async ({ page, server, api, complaints }, testInfo) => {
      complaints.forgive(/^Failed to load resource: net::ERR_/);
      const { environment } = await shopFlags(api);
      await using shop = await serve(server, environment, testInfo.outputPath("shop"));
      await server.stop();
      await page.clock.install();
      await page.goto(shop.url);
      await expect(page.getByRole("button", { name: "Check out" })).toBeVisible();
      // All retries are over.
      await whileTimePasses(page, () => expect(page.getByRole("status")).toHaveText(/^No contact/));
      await expect(page.getByRole("button", { name: "Check out" })).toBeVisible();
      await server.start();
      await whileTimePasses(page, () =>
        expect(page.getByRole("status")).toHaveText("The flags are up to date."),
      );
      await expect(page.getByRole("button", { name: "Buy now" })).toBeVisible();
    },
  );

  test(
    `${name} stays as it is while the service is down, and follows when it is back`,
    { tag: "@scripts" },
    async ({ page, context, server, api, complaints }, testInfo) => {
      // The browser reports requests that fail. Whatever else it complains of is a fault.
      complaints.forgive(/^Failed to load resource: net::ERR_/);
      const { environment } = await shopFlags(api);
      await using shop = await serve(server, environment, testInfo.outputPath("shop"));
      await page.goto(shop.url);
      await page.getByLabel("Signed in as").selectOption("linus");
      await expect(page.getByRole("status")).toHaveText("The flags are up to date.");
      await expect(page.getByText("Free delivery")).toBeVisible();
      await expect(page.getByRole("button", { name: "Check out" })).toBeVisible();
      const shown = await page.locator("body").innerText();

      const noticed = asksInVain(page);
      await server.stop();
      await noticed;
      expect(await page.locator("body").innerText()).toBe(shown);
      // The page goes on evaluating, for others too.
      await page.getByLabel("Signed in as").selectOption("ada");
      await expect(page.getByRole("button", { name: "Buy now" })).toBeVisible();

      await server.start();
      const dashboard = await context.newPage();
      await signIn(dashboard, server);
      await dashboard.goto("/dashboard/flags");
      await switchBanner(dashboard);
      await expect(page.getByText("Free delivery")).toBeHidden();
      await expect(page.getByRole("status")).toHaveText("The flags are up to date.");
      // It has not been loaded anew, or it would have forgotten who is signed in.
      await expect(page.getByLabel("Signed in as")).toHaveValue("ada");
    },
  );
}
