import type { Page } from "@playwright/test";
import { servePlain, shopFlags, test } from "../support/shop.ts";
import { expect } from "../support/test.ts";

/** Expects the right answers for a user in the rollout and for a user outside it. */
async function expectRightPage(page: Page): Promise<void> {
  await expect(page.getByRole("status")).toHaveText("The flags are up to date.");
  await expect(page.getByText("Free delivery")).toBeVisible();
  await expect(page.getByRole("button")).toHaveText("Buy now with one click");
  await page.getByLabel("Signed in as").selectOption("linus");
  await expect(page.getByRole("button")).toHaveText("Check out");
  await expect(page.locator("code")).toHaveText("rollout");
}

/** Returns the files of the package that a page has loaded, as a set that grows with each of them. */
function filesLoaded(page: Page): ReadonlySet<string> {
  const files = new Set<string>();
  page.on("requestfinished", (request) => {
    const [, file] = /\/pennon\/(.*)$/.exec(request.url()) ?? [];
    if (file !== undefined) {
      files.add(file);
    }
  });
  return files;
}

/** Removes the permission for WebAssembly from the page's content security policy, and edits the page. */
async function refuseWasm(page: Page, url: string, edit = (html: string) => html): Promise<void> {
  // The browser treats a page that a test has changed as remote, and remote pages may not access this machine.
  await page.context().grantPermissions(["local-network-access"]);
  await page.route(`${url}/`, async (route) => {
    const response = await route.fetch();
    const { "content-security-policy": policy = "", ...headers } = response.headers();
    expect(policy).toContain(" 'wasm-unsafe-eval'");
    headers["content-security-policy"] = policy.replace(" 'wasm-unsafe-eval'", "");
    await route.fulfill({ response, headers, body: edit(await response.text()) });
  });
}

test("a page without a bundler runs wasm under its content security policy", {
  tag: "@scripts",
}, async ({ page, api, serve }) => {
  const { environment } = await shopFlags(api);
  const shop = await serve(servePlain, environment);
  const files = filesLoaded(page);
  await page.goto(shop.url);
  await expectRightPage(page);
  await expect.poll(() => [...files].sort()).toEqual(["engine.js", "index.js", "lazy.js"]);
});

test("a page without a bundler works under a policy that forbids wasm", {
  tag: "@scripts",
}, async ({ page, api, serve, browserErrors }) => {
  browserErrors.ignore(/WebAssembly|wasm-eval/);
  const { environment } = await shopFlags(api);
  const shop = await serve(servePlain, environment);
  await refuseWasm(page, shop.url);
  const files = filesLoaded(page);
  await page.goto(shop.url);
  await expectRightPage(page);
  expect(files).toContain("fallback.js");
});

/** Replaces the files that the page loads early, or that its script imports. */
function withoutWasm(text: string): string {
  return text
    .replace("/pennon/index.js", "/pennon/without-wasm.js")
    .replace("/pennon/engine.js", "/pennon/engine-without-wasm.js");
}

test("a page that imports the client without wasm does not violate a policy that forbids wasm", {
  tag: "@scripts",
}, async ({ page, api, serve }) => {
  const { environment } = await shopFlags(api);
  const shop = await serve(servePlain, environment);
  await refuseWasm(page, shop.url, withoutWasm);
  await page.route("**/shop.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: withoutWasm(await response.text()) });
  });
  const files = filesLoaded(page);
  await page.goto(shop.url);
  await expectRightPage(page);
  expect(files).toContain("without-wasm.js");
  expect(files).not.toContain("engine.js");
});
