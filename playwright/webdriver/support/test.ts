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

// The exit handlers run when the tests are interrupted, too.
process.once("SIGTERM", () => process.exit(1));

/** Tests in a browser. */
export function testIn(browser: Browser) {
  return base.extend<Fixtures>({
    server: async ({ onTestFinished }, use) => {
      const server = await Server.create(worker);
      const kill = () => void server.stop();
      process.on("exit", kill);
      // Runs whatever fails before it; the lines after `use` do not.
      onTestFinished(async () => {
        await server.dispose();
        process.off("exit", kill);
      });
      await use(server);
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
