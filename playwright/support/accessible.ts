import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";

/** The rules to check: WCAG 2.2 AA, and the best practices that axe knows beyond it. */
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The rules whose result depends on the theme. */
const colorRules = ["color-contrast", "link-in-text-block"];

/**
 * Checks the current state of the page with axe, in both themes. Each violation fails the test and is reported with the
 * elements concerned, except violations of the rules in `except`. Then a screenshot of the page is kept with the test's
 * other results.
 */
export async function expectAccessible(page: Page, except: string[] = []): Promise<void> {
  const colors = colorRules.filter((rule) => !except.includes(rule));
  await expectNoFaults(page, "dark", (axe) => axe.withRules(colors));
  await expectNoFaults(page, "light", (axe) => axe.withTags(tags).disableRules(except));
}

/** Checks the page in one theme with the rules that `select` selects. */
async function expectNoFaults(
  page: Page,
  colorScheme: "dark" | "light",
  select: (axe: AxeBuilder) => AxeBuilder,
): Promise<void> {
  await page.emulateMedia({ colorScheme });
  // The other mode opens a second page for the results of frames of other origins. The pages have none.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await select(axe).analyze();
  const faults = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => ({ id, help, target, failureSummary })),
  );
  if (faults.length > 0) {
    await page.screenshot({ path: picture(page, colorScheme), fullPage: true });
  }
  expect(faults, `faults of ${page.url()} in ${colorScheme}`).toEqual([]);
}

let pictures = 0;

/** Returns the path of a screenshot of the page, which is named by a number and the page's address. */
function picture(page: Page, colorScheme: string): string {
  const { pathname, search } = new URL(page.url());
  const name = `${pathname}${search}`.replace(/[^\w=]+/g, "-").slice(0, 80);
  return test.info().outputPath(`${++pictures}${name}-${colorScheme}.png`);
}
