import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

/** What is asked for: WCAG 2.2 AA, and what axe knows to be good practice beyond it. */
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Has axe look at the page as it stands; each fault that it finds fails the test, with the elements concerned. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
  const faults = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => ({ id, help, target, failureSummary })),
  );
  expect(faults, `faults of ${page.url()}`).toEqual([]);
}
