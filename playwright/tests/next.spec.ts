import type { Page } from "@playwright/test";
import { buildNext, type Shop, serveNext, shopFlags, switchBanner, test } from "../support/shop.ts";
import { expect, signIn } from "../support/test.ts";

/** A user in the rollout and a user outside it, with the offers that they see. */
const users = { ada: "Buy now with one click", linus: "Check out" };

test.beforeAll(async () => {
  test.setTimeout(300_000);
  await buildNext();
});

/**
 * Returns the content of the page before and after hydration, and the remarks that must not occur: console messages,
 * and requests for renderings that nothing has triggered.
 */
async function visit(page: Page, shop: Shop, user: string) {
  const remarks: string[] = [];
  page.on("console", (message) => remarks.push(message.text()));
  page.on("request", (request) => request.url().includes("_rsc=") && remarks.push(request.url()));
  await page.context().addCookies([{ name: "user", value: user, url: shop.url }]);
  const refreshed = page.waitForResponse(`${shop.url}/flags`);
  const response = await page.goto(shop.url);
  await refreshed;
  const html = (await response?.text()) ?? "";
  const before = await page.evaluate((html) => {
    const document = new DOMParser().parseFromString(html, "text/html");
    return document.querySelector("main")?.textContent;
  }, html);
  return { before, after: await page.locator("main").textContent(), remarks };
}

test("Next.js pages have the same content before and after hydration, and follow the dashboard through an outage", {
  tag: "@scripts",
}, async ({ page, context, server, api, serve, browserErrors }) => {
  const { environment } = await shopFlags(api);
  const shop = await serve(serveNext, environment);
  for (const [user, offer] of Object.entries(users)) {
    const visitor = await context.newPage();
    const { before, after, remarks } = await visit(visitor, shop, user);
    expect(before).toContain(offer);
    expect(before).toContain("Free delivery");
    expect(after).toBe(before);
    expect(remarks).toEqual([]);
    await visitor.close();
  }

  const { remarks } = await visit(page, shop, "ada");
  await page.getByRole("button", { name: "linus" }).click();
  const link = page.getByRole("link", { name: "Check out" });
  await expect(link).toBeVisible();
  const loaded = await page.evaluate(() => performance.timeOrigin);

  const dashboard = await context.newPage();
  await signIn(dashboard, server);
  await dashboard.goto("/dashboard/flags");
  const offer = page.getByText("Free delivery");
  expect(remarks).toEqual([]);
  await switchBanner(dashboard);
  await expect(offer).toBeHidden();
  await switchBanner(dashboard);
  await expect(offer).toBeVisible();

  await server.stop();
  const text = await page.locator("main").textContent();
  const another = await context.newPage();
  expect((await visit(another, shop, "linus")).after).toBe(text);
  expect(await page.locator("main").textContent()).toBe(text);
  await server.start();
  await dashboard.goto("/dashboard/flags");
  await switchBanner(dashboard);
  await expect(offer).toBeHidden();
  await expect(another.getByText("Free delivery")).toBeHidden();
  // The page has not been reloaded.
  expect(await page.evaluate(() => performance.timeOrigin)).toBe(loaded);

  await link.click();
  await expect(page.getByRole("heading", { name: "Checkout", exact: true })).toBeVisible();
  // Next.js prefetches the targets of a page's links, even after the page is gone.
  browserErrors.ignore(/ERR_CONNECTION_REFUSED.*_rsc=/);
  // 128 plus the signal: Next.js has shut down gracefully, although a page follows the flags.
  expect(await shop.terminate()).toBe(143);
});
