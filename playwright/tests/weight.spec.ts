import type { Page } from "@playwright/test";
import { expect, signIn, test } from "../support/test.ts";

const kibibyte = 1024;

/** What a browser has to load at first, with the first page that has islands, and for any other page. */
const firstVisit = 40 * kibibyte;
const islands = 165 * kibibyte;
const laterPage = 20 * kibibyte;

/** For how long nothing has to arrive before a page is complete, in milliseconds. */
const silence = 1_000;

test(
  "a first visit and later pages are light",
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
    // A page that was drawn within a second of a change is asked for once more, in case it lacks it.
    await page.waitForTimeout(2_000);

    // Who is signed in already comes with a browser that has loaded nothing yet.
    const context = await browser.newContext({
      baseURL: baseURL ?? "",
      storageState: await page.context().storageState(),
    });
    const visitor = await context.newPage();
    const weigh = await scales(visitor);
    const weights = [
      { path: "/dashboard/flags, first visit", bytes: await weigh("/dashboard/flags") },
    ];
    expect.soft(weights[0]?.bytes).toBeLessThanOrEqual(firstVisit);
    const withIslands = await weigh("/dashboard/flags/flag_1");
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
      "/dashboard/audit",
    ]) {
      const bytes = await weigh(path);
      weights.push({ path, bytes });
      expect.soft(bytes, path).toBeLessThanOrEqual(laterPage);
    }
    for (const { path, bytes } of weights) {
      const told = `${path}: ${(bytes / kibibyte).toFixed(1)} KiB`;
      annotations.push({ type: "weight", description: told });
      console.log(`    ${told}`);
    }
    await context.close();
  },
);

/** Opens pages and tells how many bytes went over the wire for each, headers included. */
async function scales(page: Page): Promise<(path: string) => Promise<number>> {
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
    // The stream of events never ends, so it is silence that tells that all else is there.
    await expect.poll(() => performance.now() - last).toBeGreaterThan(silence);
    return bytes;
  };
}
