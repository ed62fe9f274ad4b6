import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test as base, expect } from "vitest";
import { Api } from "../../support/api.ts";
import { Server } from "../../support/server.ts";
import type { Browser } from "./drivers.ts";
import { Page } from "./page.ts";

type Fixtures = {
  /** The test's own server. */
  server: Server;
  /** The REST API of the server, as its first administrator. */
  api: Api;
  /** The test's own browser. A test fails if its pages have uncaught errors. */
  page: Page;
};

/** The folder for screenshots of failed tests. */
const results = new URL("../../results/", import.meta.url);

/** A worker number that keeps the ports apart from those of the tests in Chromium. */
const worker = 8;

// Makes exit handlers run even when the tests are interrupted.
process.once("SIGTERM", () => process.exit(1));

/** Returns the test function for a browser. */
export function testIn(browser: Browser) {
  return base.extend<Fixtures>({
    server: async ({ onTestFinished }, use) => {
      const server = await Server.create(worker);
      const kill = () => void server.stop();
      process.on("exit", kill);
      // This runs even if something before it fails, unlike the lines after `use`.
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
