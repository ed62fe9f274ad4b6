import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";

/** The rules to check: WCAG 2.2 AA, and the best practices that axe knows beyond it. */
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * Checks the current state of the page with axe, in both themes. Each violation fails the test and is reported with the
 * elements concerned, except violations of the rules in `except`. Screenshots of the checked page are kept with the
 * test's other results.
 */
export async function expectAccessible(page: Page, except: string[] = []): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    const axe = new AxeBuilder({ page }).withTags(tags).disableRules(except);
    const { violations } = await axe.analyze();
    const faults = violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => ({ id, help, target, failureSummary })),
    );
    await page.screenshot({ path: picture(page, colorScheme), fullPage: true });
    expect(faults, `faults of ${page.url()} in ${colorScheme}`).toEqual([]);
  }
}

let pictures = 0;

/** Returns the path of a screenshot of the page, which is named by a number and the page's address. */
function picture(page: Page, colorScheme: string): string {
  const { pathname, search } = new URL(page.url());
  const name = `${pathname}${search}`.replace(/[^\w=]+/g, "-").slice(0, 80);
  return test.info().outputPath(`${++pictures}${name}-${colorScheme}.png`);
}
