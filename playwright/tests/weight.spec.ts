import type { Page } from "@playwright/test";
import { expect, signIn, test } from "../support/test.ts";

const kibibyte = 1024;

/**
 * The maximum number of bytes that a browser loads: on the first visit, with the first page that has islands, and for
 * any later page.
 */
const firstVisit = 40 * kibibyte;
const islands = 165 * kibibyte;
const laterPage = 20 * kibibyte;

/** The time without network activity after which a page counts as complete, in milliseconds. */
const silence = 1_000;

test(
  "the first visit and later pages load few bytes",
  { tag: "@scripts" },
  async ({ page, browser, baseURL, server, api }, { annotations }) => {
    const environments = [
      await api.createEnvironment("Web shop", "development"),
      await api.createEnvironment("Web shop", "staging"),
      await api.createEnvironment("Web shop", "production"),
    ];
    for (let number = 1; number <= 51; number++) {
      const flag = await api.createFlag(`flag_${number}`, `A flag by the number of ${number}`);
      const environment = environments[number % environments.length];
      if (environment !== undefined) {
        await api.switch(flag, environment, true);
      }
    }
    await signIn(page, server);
    // A page that was rendered within a second of a change is requested once more, in case it lacks the change.
    const renderedAt = async () =>
      Number(await page.locator("main").getAttribute("data-rendered-at"));
    const first = await renderedAt();
    expect(first).toBeGreaterThan(0);
    await expect
      .poll(() => page.reload().then(renderedAt), { intervals: [250] })
      .toBeGreaterThan(first + 1_000);

    // A signed-in user with a browser that has not loaded anything yet.
    const context = await browser.newContext({
      baseURL: baseURL ?? "",
      storageState: await page.context().storageState(),
    });
    const visitor = await context.newPage();
    const measure = await meterOf(visitor);
    const weights = [
      { path: "/dashboard/flags, first visit", bytes: await measure("/dashboard/flags") },
    ];
    expect.soft(weights[0]?.bytes).toBeLessThanOrEqual(firstVisit);
    const withIslands = await measure("/dashboard/flags/flag_1");
    weights.push({ path: "/dashboard/flags/flag_1, with the code of islands", bytes: withIslands });
    expect.soft(withIslands).toBeLessThanOrEqual(islands);
    for (const path of [
      "/dashboard/flags",
      "/dashboard/flags?page=2",
      "/dashboard/new-flag",
      "/dashboard/flags/flag_1",
      "/dashboard/flags/flag_1?edit=rule",
      "/dashboard/flags/flag_1/usage",
      "/dashboard/try?flag=flag_1&userId=u-1042",
      "/dashboard/environments",
      `/dashboard/environments/${environments[0]?.id}/live`,
      "/dashboard/audit",
    ]) {
      const bytes = await measure(path);
      weights.push({ path, bytes });
      expect.soft(bytes, path).toBeLessThanOrEqual(laterPage);
    }
    for (const { path, bytes } of weights) {
      const description = `${path}: ${(bytes / kibibyte).toFixed(1)} KiB`;
      annotations.push({ type: "weight", description });
      console.log(`    ${description}`);
    }
    await context.close();
  },
);

/** Returns a function that opens a page and returns the number of bytes transferred for it, including headers. */
async function meterOf(page: Page): Promise<(path: string) => Promise<number>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  let bytes = 0;
  let last = 0;
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    last = performance.now();
  });
  return async (path) => {
    bytes = 0;
    await page.goto(path);
    // The event stream never ends, so only silence shows that everything else has arrived.
    await expect.poll(() => performance.now() - last).toBeGreaterThan(silence);
    return bytes;
  };
}
