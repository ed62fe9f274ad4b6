import { expect, type Page, test } from "@playwright/test";

/** Makes the page's client get these flags instead of those of the server. */
async function useFlags(page: Page, flags: Record<string, boolean>) {
  const entries = Object.entries(flags);
  const document = {
    flags: entries.map(([key, enabled]) => ({ key, enabled, rules: [], rollout: null })),
  };
  await page.route(/\/sdk\/v1\/(public\/[^/]+\/)?config/, (route) =>
    route.fulfill({ json: document }),
  );
  await page.route("**/sdk/v1/stream", (route) => route.abort());
}

test("offers the new checkout", async ({ page }) => {
  await useFlags(page, { new_checkout: true, banner: false });
  await page.goto("/");
  await expect(page.getByRole("button", { name: "Buy now" })).toBeVisible();
});
