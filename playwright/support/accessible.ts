import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";

/** What is asked for: WCAG 2.2 AA, and what axe knows to be good practice beyond it. */
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * Has axe look at the page as it stands, in both themes; each fault that it finds fails the test, with the elements
 * concerned, except faults by the rules that `except` names. What it has looked at is kept as pictures beside the test's
 * other results.
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

/** Where a picture of the page is kept: named by a number and the page's address. */
function picture(page: Page, colorScheme: string): string {
  const { pathname, search } = new URL(page.url());
  const name = `${pathname}${search}`.replace(/[^\w=]+/g, "-").slice(0, 80);
  return test.info().outputPath(`${++pictures}${name}-${colorScheme}.png`);
}
