import { type Browser, type ConsoleMessage, chromium, type Page } from "@playwright/test";
import { FakeServer, type Site } from "./fake-server.ts";

// `cargo xtask` names the browser. Without it, Playwright looks for its own browser.
const executablePath = process.env.PENNON_CHROMIUM;

export function launch(): Promise<Browser> {
  return chromium.launch(executablePath === undefined ? {} : { executablePath });
}

/** Returns the results on a site's page, and the files of the site that were loaded. */
export async function outputOfSite(browser: Browser, site: Site) {
  await using server = await FakeServer.start(site);
  const results = await outputOfPage(browser, server.url);
  return { results, loaded: server.requestedPaths };
}

/** Returns the text of a page's `output` element. */
export async function outputOfPage(browser: Browser, url: string): Promise<string> {
  const page = await browser.newPage();
  const messages = consoleMessagesOf(page);
  try {
    await page.goto(url);
    const output = page.locator("output:not(:empty)");
    await output.waitFor({ state: "attached", timeout: 60_000 }).catch((error) => {
      throw new Error(`the page printed nothing; console: ${messages.join("; ")}`, {
        cause: error,
      });
    });
    return (await output.textContent()) ?? "";
  } finally {
    await page.close();
  }
}

/** Returns the errors and the console messages of a page; the list grows while the page runs. */
export function consoleMessagesOf(
  page: Page,
  isIncluded = (_: ConsoleMessage) => true,
): readonly string[] {
  const messages: string[] = [];
  page.on("pageerror", (error) => messages.push(String(error)));
  page.on("console", (message) => isIncluded(message) && messages.push(message.text()));
  return messages;
}

/** Returns the errors and warnings of a page; the list grows while the page runs. */
export function warningsOf(page: Page): readonly string[] {
  return consoleMessagesOf(page, (message) => ["error", "warning"].includes(message.type()));
}
