import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import type { Api } from "../support/api.ts";
import { evaluate } from "../support/api.ts";
import { country, flagStatus } from "../support/flag-page.ts";
import { chooseProduct, productSwitcher } from "../support/product-switcher.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

const shopQuery = "product=Web+shop";

/** Creates two products, a flag in both of them, and a flag in one. */
async function fill(api: Api) {
  const blog = await api.createEnvironment("Blog", "production");
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  const search = await api.createFlag("search", "Search");
  const comments = await api.createFlag("comments", "Comments", "", ["Blog"]);
  return { blog, staging, production, search, comments };
}

test("a single product needs no choice", async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  await signIn(page, server);
  await expect(page.getByRole("link", { name: "Environments" })).toBeVisible();
  await expect(productSwitcher(page)).toHaveCount(0);
  await page.goto("/dashboard/new-flag");
  await expect(page.getByLabel("Every product")).toHaveCount(0);
});

test("a product limits every section, and stays in the address", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  await fill(api);
  await signIn(page, server);
  await expect(productSwitcher(page).locator("option")).toHaveText([
    "All products",
    "Blog",
    "Web shop",
  ]);
  await expect(page.getByRole("row", { name: "Comments" })).toBeVisible();
  await expect(page.getByRole("switch", { name: "Search in Blog / production" })).toBeVisible();

  await chooseProduct(page, "Web shop", javaScriptEnabled ?? true);
  await expect(page).toHaveURL(`/dashboard/flags?${shopQuery}`);
  await expect(productSwitcher(page)).toHaveValue("Web shop");
  await expect(page.getByRole("switch")).toHaveCount(2);
  await expect(page.getByRole("switch", { name: "Search in staging" })).toBeVisible();
  await expect(page.getByRole("row", { name: "Comments" })).toHaveCount(0);

  await page.getByRole("link", { name: "Environments" }).click();
  await expect(page).toHaveURL(`/dashboard/environments?${shopQuery}`);
  await expect(page.getByRole("rowheader")).toHaveText(["Web shop", "staging", "production"]);
  await page.getByRole("link", { name: "Revoked" }).click();
  await expect(page).toHaveURL(new RegExp(`status=revoked&${shopQuery.replace("+", "\\+")}$`));

  await page.getByRole("link", { name: "Audit" }).click();
  const entries = page.locator(".timeline").getByRole("listitem");
  await expect(entries).toHaveText([
    /created search/,
    /created the environment production/,
    /created the environment staging/,
  ]);
  await page.getByLabel("Environment").fill("staging");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(entries).toHaveText([/created the environment staging/]);
  expect(new URL(page.url()).searchParams.get("product")).toBe("Web shop");

  await page.getByRole("link", { name: "Try it" }).click();
  const environments = page.getByLabel("Environment");
  await expect(environments.locator("option")).toHaveText(["staging", "production"]);

  await chooseProduct(page, "Blog", javaScriptEnabled ?? true);
  await expect(page).toHaveURL("/dashboard/try?product=Blog");
  await expect(environments.locator("option")).toHaveText(["production"]);
  await chooseProduct(page, "", javaScriptEnabled ?? true);
  await expect(environments.locator("option")).toHaveCount(3);
  expect(new URL(page.url()).searchParams.get("product") ?? "").toBe("");
});

test("a page of one object leads to the flags of another product", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  await fill(api);
  await signIn(page, server);
  await page.goto(`/dashboard/flags/search?${shopQuery}`);
  const tabs = page.getByRole("navigation", { name: "Environments" }).getByRole("link");
  await expect(tabs).toHaveText([/^staging/, /^production/]);
  await tabs.first().click();
  await expect(flagStatus(page)).toContainText("Off for everyone in staging");
  expect(new URL(page.url()).searchParams.get("product")).toBe("Web shop");
  await chooseProduct(page, "Blog", javaScriptEnabled ?? true);
  await expect(page).toHaveURL("/dashboard/flags?product=Blog");
  await expect(page.getByRole("row", { name: "Comments" })).toBeVisible();
});

test("an unknown product stays chosen, and has no environments", async ({ page, server, api }) => {
  await fill(api);
  await signIn(page, server);
  await page.goto("/dashboard/environments?product=Gone");
  await expect(productSwitcher(page)).toHaveValue("Gone");
  await expect(page.getByText("No environments of Gone yet")).toBeVisible();
  await page.getByRole("link", { name: "Flags" }).click();
  await expect(page.getByText("Gone has no active environment")).toBeVisible();
  await expect(page.getByRole("switch")).toHaveCount(0);
});

test("the filters of the list keep the product", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await fill(api);
  await signIn(page, server);
  await page.goto(`/dashboard/flags?${shopQuery}`);
  await scriptsReady(page);
  await page.getByRole("searchbox", { name: "Search name or key" }).fill("s");
  await expect(page).toHaveURL(/[?&]q=s/);
  expect(new URL(page.url()).searchParams.get("product")).toBe("Web shop");
  await expect(page.getByRole("row", { name: "Comments" })).toHaveCount(0);
  await expect(page.getByRole("row", { name: "Search" })).toBeVisible();
});

test("the palette finds objects of the product, and keeps it", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { production } = await fill(api);
  await signIn(page, server);
  await page.goto(`/dashboard/flags?${shopQuery}`);
  await scriptsReady(page);
  await page.getByRole("button", { name: "Jump to" }).click();
  const palette = page.getByRole("dialog", { name: "Jump to" });
  const options = palette.getByRole("option");
  await palette.getByRole("combobox").fill("comments");
  await expect(palette.getByText("No matches.")).toBeVisible();
  await palette.getByRole("combobox").fill("prod");
  await expect(options).toHaveCount(1);
  await options.first().click();
  await expect(page).toHaveURL(`/dashboard/environments/${production.id}?${shopQuery}`);
});

test("the palette finds environments by the name that it shows", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await fill(api);
  await signIn(page, server);
  await page.getByRole("button", { name: "Jump to" }).click();
  const palette = page.getByRole("dialog", { name: "Jump to" });
  const options = palette.getByRole("option");
  await palette.getByRole("combobox").fill("turn on search in Web shop / prod");
  await expect(options).toHaveText([/^Turn on Search in Web shop \/ production/]);
  await palette.getByRole("combobox").fill("turn on search in blog");
  await expect(options).toHaveText([/^Turn on Search in Blog \/ production/]);
});

test("a notice names the product of the environment that the page shows", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { blog, production, search } = await fill(api);
  await signIn(page, server);
  await page.goto(`/dashboard/flags/search?environment=${production.id}&edit=ttl`);
  await scriptsReady(page);
  await page.getByLabel("TTL (time to live) in seconds").fill("30");
  await api.setTtl(search, production, 20);
  await api.addRule(search, blog, country("DE", 1));
  await expect(page.locator(".bars")).toContainText(
    `${server.email} changed search in Web shop / production while you were editing.`,
  );
});

test("every link and form keeps the product", async ({ page, server, api }) => {
  test.setTimeout(300_000);
  const { production, search } = await fill(api);
  await api.createUser("ben@example.com", "editor");
  await api.switch(search, production, true);
  await api.addRule(search, production, country("DE", 1));
  await api.setRollout(search, production, 25);
  await signIn(page, server);
  const seen = new Set<string>();
  const ahead = [new URL(`/dashboard/flags?${shopQuery}`, server.url)];
  for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
    const names = [...next.searchParams.keys()].sort();
    const kind = `${next.pathname}?${names} ${next.searchParams.get("edit")}`;
    if (seen.has(kind)) {
      continue;
    }
    seen.add(kind);
    await page.goto(next.href);
    expect.soft(await withoutProduct(page), next.href).toEqual([]);
    const links = await page
      .locator('a[href^="/dashboard"]:not([download])')
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
    ahead.push(...links.map((link) => new URL(link)));
  }
  expect(seen.size).toBeGreaterThan(25);
});

/** Returns the addresses of the page's links and forms that lead to a page for all products. */
async function withoutProduct(page: Page): Promise<string[]> {
  const addresses = await page.locator("a[href], form").evaluateAll((all) =>
    all.map((element) => {
      const isForm = element instanceof HTMLFormElement;
      const address = element.getAttribute(isForm ? "action" : "href") ?? "";
      const isKept =
        isForm && element.method === "get"
          ? element.querySelector("[name=product]") !== null
          : /[?&]product=Web\+shop/.test(address);
      return isKept ? "" : address;
    }),
  );
  return addresses.filter((address) => /^\/dashboard\/(?!api\/)/.test(address));
}

test("a new flag can be limited to products", async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/status of 400/);
  const { blog, production } = await fill(api);
  await signIn(page, server);
  await page.goto("/dashboard/flags?product=Blog");
  await page.getByRole("link", { name: "New flag" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("Newsletter");
  await page.getByLabel("Key", { exact: true }).fill("newsletter");
  await expect(page.getByLabel("Every product")).toBeChecked();
  await expect(page.getByLabel("Web shop", { exact: true })).toBeHidden();
  await page.getByLabel("Only these products").check();
  await page.getByRole("button", { name: "Create flag" }).click();
  await expect(page.getByText("Must have at least one product.")).toBeVisible();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Newsletter");
  await expect(page.getByLabel("Only these products")).toBeChecked();

  await page.getByLabel("Blog", { exact: true }).check();
  await page.getByLabel("Another product").fill("App");
  await page.getByRole("button", { name: "Create flag" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Newsletter");
  await expect(page).toHaveURL("/dashboard/flags/newsletter?product=Blog");
  const products = page.getByRole("list", { name: "Products" });
  await expect(products.getByRole("listitem")).toHaveText(["App", "Blog"]);
  expect(await evaluate(server, blog.sdkKey, "newsletter")).toMatchObject({
    reason: "flag_disabled",
  });
  await expect(evaluate(server, production.sdkKey, "newsletter")).rejects.toThrow(/404/);

  await page.goto(`/dashboard/flags/newsletter?${shopQuery}`);
  await expect(page.getByText("Not configured in Web shop")).toBeVisible();
  await expect(page.getByText("The flag is limited to App, Blog.")).toBeVisible();
  await page.getByRole("link", { name: "Show all products" }).click();
  await expect(page.getByRole("navigation", { name: "Environments" })).toContainText("production");
});

test("a flag that is on asks before it leaves environments", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const { blog, production, search } = await fill(api);
  await api.switch(search, production, true);
  await api.switch(search, blog, true);
  await signIn(page, server);
  await page.goto("/dashboard/flags/search");
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Name").fill("Full-text search");
  await page.getByLabel("Only these products").check();
  await page.getByLabel("Blog", { exact: true }).check();
  await page.getByRole("button", { name: "Save", exact: true }).click();

  const question = page.getByLabel("Switch it off there and save");
  await expect(page.getByText("Not saved.")).toBeVisible();
  await expect(page.getByText("Web shop/production")).toBeVisible();
  await expect(page.getByLabel("Name")).toHaveValue("Full-text search");
  await expect(page.getByLabel("Blog", { exact: true })).toBeChecked();
  expect((await evaluate(server, production.sdkKey, "search")).enabled).toBe(true);

  await question.check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const products = page.getByRole("list", { name: "Products" });
  await expect(products.getByRole("listitem")).toHaveText(["Blog"]);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Full-text search");
  await expect(evaluate(server, production.sdkKey, "search")).rejects.toThrow(/404/);
  expect((await evaluate(server, blog.sdkKey, "search")).enabled).toBe(true);

  await page.goto("/dashboard/flags");
  const row = page.getByRole("row", { name: "Full-text search" });
  await expect(row.getByRole("switch")).toHaveCount(1);
  await expect(row.getByTitle("The flag is limited to Blog.")).toHaveCount(2);

  await page.goto("/dashboard/flags/search/history");
  const group = page.locator(".timeline > li").first();
  await expect(group).toContainText("changed the name and the products of search");
  await expect(group).toContainText("removed search from Web shop / production, where it was on");
  await expect(group).toContainText("removed search from Web shop / staging");
  await group.getByRole("link", { name: "Revert" }).click();
  await expect(
    page.getByText("The flag exists in the environments of every product."),
  ).toBeVisible();
});

test.describe("with axe", { tag: "@scripts" }, () => {
  test.slow();

  test("pages of a product are accessible", async ({ page, server, api, browserErrors }) => {
    browserErrors.ignore(/status of 409/);
    const { production, search } = await fill(api);
    await api.switch(search, production, true);
    await signIn(page, server);
    for (const address of [
      `flags?${shopQuery}`,
      `environments?${shopQuery}`,
      `audit?${shopQuery}`,
      `flags/comments?${shopQuery}`,
      "flags/comments",
      "new-flag",
    ]) {
      await page.goto(`/dashboard/${address}`);
      await test.step(address, () => expectAccessible(page));
    }
    await page.goto("/dashboard/flags/search?edit=details");
    await page.getByLabel("Only these products").check();
    await page.getByLabel("Blog", { exact: true }).check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText("Not saved.")).toBeVisible();
    await expectAccessible(page);
  });

  test("the choice is in the menu of a phone", async ({ page, server, api }) => {
    await fill(api);
    await api.createEnvironment(
      "A product with a name of 64 characters, which is the maximum ...",
      "a",
    );
    await page.setViewportSize({ width: 390, height: 844 });
    await signIn(page, server);
    await page.getByRole("button", { name: "Menu" }).click();
    await chooseProduct(page, "Web shop", true);
    await expect(page).toHaveURL(`/dashboard/flags?${shopQuery}`);
    const menu = page.getByRole("button", { name: "Menu: Web shop" });
    await menu.click();
    await expect(productSwitcher(page)).toHaveValue("Web shop");
    await expectAccessible(page);
    for (const address of ["flags", "new-flag", "flags/search?edit=details"]) {
      await page.goto(`/dashboard/${address}`);
      if (address !== "flags") {
        await page.getByLabel("Only these products").check();
      }
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect.soft(width, address).toBe(390);
    }
  });
});
