import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test as base, expect } from "vitest";
import { Api } from "../../support/api.ts";
import { Server } from "../../support/server.ts";
import type { Browser } from "./drivers.ts";
import { Page } from "./page.ts";

type Fixtures = {
  /** A server of the test's own. */
  server: Server;
  /** That server's REST API, as its first admin. */
  api: Api;
  /** A browser of the test's own. A test fails if its pages have uncaught errors. */
  page: Page;
};

/** Screenshots of failed tests. */
const results = new URL("../../results/", import.meta.url);

/** Apart from the ports of the tests in Chromium. */
const worker = 8;

/** Tests in a browser. */
export function testIn(browser: Browser) {
  return base.extend<Fixtures>({
    server: async ({}, use) => {
      const server = await Server.create(worker);
      await use(server);
      await server.dispose();
      expect(server.panics).toEqual([]);
    },
    api: async ({ server }, use) => use(await Api.signIn(server)),
    page: async ({ server, task }, use) => {
      const page = await Page.start(browser, server.url);
      try {
        await use(page);
        if (task.result?.state === "fail") {
          const name = `${browser.name}-${task.name}`.replace(/\W+/g, "-").toLowerCase();
          const file = new URL(`${name}.png`, results);
          await mkdir(results, { recursive: true });
          await writeFile(file, await page.screenshot());
          console.error(`Screenshot: ${fileURLToPath(file)}`);
        }
        expect(await page.uncaughtErrors()).toEqual([]);
      } finally {
        await page.close();
      }
    },
  });
}
