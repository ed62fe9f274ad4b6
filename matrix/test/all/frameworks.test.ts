import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, expect as expectOf, type Route } from "@playwright/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, warningsOf } from "../../support/browser.ts";
import { serveShop } from "../../support/examples.ts";
import { FakeServer, LIVE } from "../../support/fake-server.ts";
import { newApplication, output, tool } from "../../support/tool.ts";

/** Replaces the key and the address in the application's `client.ts`, as a reader of the guide does. */
async function configure(application: string, server: FakeServer): Promise<void> {
  const file = join(application, "src/client.ts");
  const text = await readFile(file, "utf8");
  const ours = text.replace("pnp_your_key", LIVE).replace("https://flags.example.com", server.url);
  await writeFile(file, ours);
}

// Angular compiles its component in the browser: @angular/compiler-cli needs an older TypeScript than the other tools.
describe("a page with the code of docs/frameworks.md", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launch();
  });

  afterAll(() => browser?.close());

  it.each(["vue", "svelte", "angular", "solid"])("follows a flag in %s", async (framework) => {
    const application = await newApplication(framework, "framework");
    await using server = await FakeServer.start({ folder: join(application, "dist") });
    await configure(application, server);
    await output(application, tool("tsc"));
    await output(application, tool("vite"), "build");

    const page = await browser.newPage();
    const warnings = warningsOf(page);
    const expectButton = (name: string) =>
      expectOf(page.getByRole("button", { name })).toBeVisible({ timeout: 10_000 });

    const respond = async (route: Route) => {
      await expectButton("Check out");
      await route.continue();
    };
    // The application renders before the flags are loaded.
    await page.route("**/sdk/v1/config", respond, { times: 1 });

    serveShop(server, true);
    await page.goto(server.url);
    await expectButton("Buy now with one click");

    const user = page.getByLabel("Signed in as");
    await user.selectOption("linus");
    await expectButton("Check out");
    server.change([{ key: "new_checkout", enabled: true, rules: [], rollout: null }]);
    await expectButton("Buy now with one click");
    server.change([]);
    await expectButton("Check out");

    await expectOf(page).toHaveTitle("1");
    await page.getByRole("button", { name: "Leave" }).click();
    await expectOf(user).toBeHidden();
    await expectOf(page).toHaveTitle("0");
    expect(warnings).toEqual([]);
    await page.close();
  });
});
