import type { Page } from "@playwright/test";
import { expect, signIn, test } from "../support/test.ts";

/** Returns the lightness of the page's background, from 0 to 1. */
async function lightness(page: Page): Promise<number> {
  const background = await page
    .locator("html")
    .evaluate((html) => getComputedStyle(html).backgroundColor);
  return Number(/oklch\(([\d.]+)/.exec(background)?.[1] ?? Number.NaN);
}

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(`with a ${colorScheme} system theme`, () => {
    test.use({ colorScheme });

    test("pages follow the system until a theme is chosen", async ({ page, server }) => {
      await signIn(page, server);
      const follows = colorScheme === "dark" ? "toBeLessThan" : "toBeGreaterThan";
      expect(await lightness(page))[follows](0.5);

      for (const [theme, compares] of [
        ["Dark", "toBeLessThan"],
        ["Light", "toBeGreaterThan"],
      ] as const) {
        // With scripts, the page changes its colors at once, before the server has stored the theme.
        const remembered = page.waitForResponse((answer) => answer.request().method() === "POST");
        await page.getByRole("button", { name: theme }).click();
        await remembered;
        await expect(page.getByRole("button", { name: theme })).toHaveAttribute(
          "aria-pressed",
          "true",
        );
        await expect.poll(() => lightness(page))[compares](0.5);
        await page.goto("/dashboard/environments");
        expect(await lightness(page))[compares](0.5);
      }
    });
  });
}
