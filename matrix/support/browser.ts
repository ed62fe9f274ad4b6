import { type Browser, chromium, type Page } from "@playwright/test";
import { FakeServer, type Site } from "./fake-server.ts";

// `cargo xtask` names the browser. Without it, Playwright looks for its own browser.
const executablePath = process.env.PENNON_CHROMIUM;

export function launch(): Promise<Browser> {
  return chromium.launch(executablePath === undefined ? {} : { executablePath });
}

/** Returns the output of a site's page, and the files of the site that were loaded. */
export async function outputOfSite(browser: Browser, site: Site) {
  await using server = await FakeServer.start(site);
  const said = await outputOfPage(browser, server.url);
  return { said, loaded: server.asked };
}

/** Returns the text of a page's `output` element. */
export async function outputOfPage(browser: Browser, url: string): Promise<string> {
  const page = await browser.newPage();
  const complaints = listenTo(page);
  try {
    await page.goto(url);
    const output = page.locator("output:not(:empty)");
    await output.waitFor({ state: "attached", timeout: 60_000 }).catch((error) => {
      throw new Error(`the page says nothing but: ${complaints.join("; ")}`, { cause: error });
    });
    return (await output.textContent()) ?? "";
  } finally {
    await page.close();
  }
}

function listenTo(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => complaints.push(message.text()));
  return complaints;
}
