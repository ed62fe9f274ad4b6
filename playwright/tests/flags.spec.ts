import { hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test("a new flag is listed, and off in every environment", async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  await signIn(page, server);
  await page.getByRole("link", { name: "New flag" }).first().click();
  await page.getByLabel("Name").fill("New checkout");
  await page.getByLabel("Key").fill("new_checkout");
  await page.getByLabel("Description").fill("Checkout in one page. Goes when it is everywhere.");
  await page.getByRole("button", { name: "Create flag" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New checkout");
  await page.getByRole("link", { name: "Flags" }).first().click();
  const row = page.getByRole("row", { name: "New checkout" });
  await expect(row).toContainText("new_checkout");
  const switches = row.getByRole("switch");
  await expect(switches).toHaveCount(2);
  await expect(switches.first()).toHaveAccessibleName("New checkout in staging");
  for (const each of await switches.all()) {
    await expect(each).not.toBeChecked();
  }
});

test("an invalid key is refused, and the input is kept", async ({
  page,
  server,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 4\d\d/);
  await signIn(page, server);
  await page.goto("/dashboard/new-flag");
  await page.getByLabel("Name").fill("New checkout");
  await page.getByLabel("Key").fill("new checkout!");
  await page.getByRole("button", { name: "Create flag" }).click();

  await expect(page.getByLabel("Key")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Key")).toHaveValue("new checkout!");
  await expect(page.getByLabel("Name")).toHaveValue("New checkout");
});

test("a search finds flags by name and by key", async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "Checkout in one page");
  await api.createFlag("dark_mode", "Dark colors");
  await signIn(page, server);

  const search = page.getByRole("searchbox", { name: "Search name or key" });
  await search.fill("CHECKOUT in");
  await search.press("Enter");
  await expect(page.getByRole("row", { name: "Checkout in one page" })).toBeVisible();
  await expect(page.getByRole("row", { name: "Dark colors" })).toBeHidden();

  await search.fill("dark_");
  await search.press("Enter");
  await expect(page.getByRole("row", { name: "Dark colors" })).toBeVisible();
  await expect(page.getByRole("row", { name: "Checkout in one page" })).toBeHidden();
});

test("an archived flag is in the list of archived flags", async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.archive(await api.createFlag("old_banner", "Old banner"));
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await expect(page.getByRole("row", { name: "Old banner" })).toHaveCount(0);

  await page.getByRole("link", { name: "Archived" }).click();
  const row = page.getByRole("row", { name: "Old banner" });
  await expect(row).toBeVisible();
  for (const each of await row.getByRole("switch").all()) {
    await expect(each).toBeDisabled();
  }
});

test("the list follows a search that was typed before hydration", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await api.createFlag("new_checkout", "Checkout in one page");
  await api.createFlag("dark_mode", "Dark colors");
  await signIn(page, server);
  const hydrate = await hold(page, "**/*.{js,wasm}");
  await page.goto("/dashboard/flags", { waitUntil: "commit" });
  const rows = page.locator("tbody tr");
  await page.getByRole("searchbox", { name: "Search name or key" }).fill("dark");
  await expect(rows).toHaveCount(2);
  hydrate();
  await expect(rows).toHaveCount(1);
});

test("an earlier search that is answered late changes nothing", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createFlag("new_checkout", "Checkout in one page");
  await api.createFlag("dark_mode", "Dark colors");
  await signIn(page, server);
  await scriptsReady(page);
  const search = page.getByRole("searchbox", { name: "Search name or key" });
  const release = await hold(page, "**/dashboard/flags?q=dark");
  const early = page.waitForRequest("**/dashboard/flags?q=dark");
  await search.fill("dark");
  const request = await early;
  await search.fill("check");
  await expect(page).toHaveURL(/\?q=check$/);
  release();
  await (await request.response())?.finished();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  await expect(page).toHaveURL(/\?q=check$/);
  await expect(page.locator("tbody tr")).toHaveText([/Checkout in one page/]);
});

test("a search that fails says so, and asks for the sign-in after the session", {
  tag: "@scripts",
}, async ({ page, context, server, api, browserErrors }) => {
  browserErrors.ignore(/ERR_FAILED/);
  await api.createFlag("new_checkout", "Checkout in one page");
  await signIn(page, server);
  await scriptsReady(page);
  await page.route("**/dashboard/flags?q=dark", (route) => route.abort());
  const search = page.getByRole("searchbox", { name: "Search name or key" });
  await search.fill("dark");
  await expect(page.getByText("Pennon cannot be reached. The list may be")).toBeAttached();
  await expect(page.locator("tbody tr")).toHaveCount(1);
  await context.clearCookies();
  await search.fill("check");
  await expect(page).toHaveURL(/\/dashboard\/login/);
});

test("the list and its address follow the filters", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  const checkout = await api.createFlag("new_checkout", "Checkout in one page");
  await api.switch(checkout, staging, true);
  await api.createFlag("old_checkout", "Checkout as it was");
  const dark = await api.createFlag("dark_mode", "Dark colors");
  await api.switch(dark, staging, true);
  await api.setRollout(dark, staging, 25);
  await signIn(page, server);
  const rows = page.locator("tbody tr");
  await expect(rows).toHaveCount(3);

  await page.getByRole("searchbox", { name: "Search name or key" }).fill("CHECKOUT");
  await expect(rows).toHaveCount(2);
  await expect(page).toHaveURL(/\?q=CHECKOUT$/);
  await expect(page.getByRole("status").filter({ hasText: "2 flags" })).toBeAttached();

  await page.getByRole("combobox", { name: "Environment" }).selectOption("staging");
  await page.getByRole("combobox", { name: "Flag state" }).selectOption("On");
  await expect(rows).toHaveCount(1);
  await expect(rows.getByRole("switch")).toHaveCount(1);
  await expect(page).toHaveURL(/q=CHECKOUT&environment=[0-9a-f-]{36}&is=on$/);

  await page.getByRole("searchbox").fill("");
  await page.getByRole("combobox", { name: "Flag state" }).selectOption("On for some");
  await expect(page.getByRole("row", { name: "Dark colors" })).toBeVisible();
  await expect(rows).toHaveCount(1);

  // Rows that appear later are as interactive as the initial ones.
  await page.getByRole("switch", { name: "Dark colors in staging" }).click();
  await expect(page.getByText("Dark colors is off in staging.")).toBeVisible();
  // The flag leaves the list once the pointer leaves its switch, but can still be switched back.
  await page.getByRole("heading", { level: 1 }).hover();
  await expect(rows).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Dark colors is on again in staging.")).toBeVisible();
  await expect(rows).toHaveCount(1);

  // Opening the address elsewhere shows the same list.
  await page.goto(page.url());
  await expect(rows).toHaveCount(1);
  await expect(page.getByRole("combobox", { name: "Flag state" })).toHaveValue("partly");
});

test.describe("without scripts", () => {
  test.use({ javaScriptEnabled: false });

  test("a button applies filters and order", async ({ page, server, api }) => {
    const staging = await api.createEnvironment("Web shop", "staging");
    const flag = await api.createFlag("b", "Bees");
    await api.switch(flag, staging, true);
    await api.createFlag("c", "Cats");
    await api.switch(await api.createFlag("a", "Ants"), staging, true);
    await signIn(page, server);
    await page.getByRole("combobox", { name: "Flag state" }).selectOption("On");
    await page.getByRole("combobox", { name: "Order" }).selectOption("Name");
    await page.getByRole("button", { name: "Show" }).click();
    await expect(page.locator("tbody tr .flag-title")).toHaveText(["Ants", "Bees"]);
    await expect(page.getByText("In at least one environment.")).toBeVisible();
  });
});

test("a list has 30 flags to a page", async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  for (let number = 1; number <= 31; number++) {
    await api.createFlag(`flag_${number}`, `Flag ${number}`);
  }
  await signIn(page, server);
  const rows = page.locator("tbody tr");
  await expect(rows).toHaveCount(30);
  await expect(page.getByText("1 to 30 of 31")).toBeVisible();
  await page.getByRole("link", { name: "Next" }).click();
  await expect(page).toHaveURL(/page=2/);
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText("flag_1");
});

test("going back leads to a form that was refused, and reloading does not send it again", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/status of 4\d\d/);
  await api.createFlag("taken", "Taken");
  await signIn(page, server);
  await page.goto("/dashboard/new-flag");
  const key = page.getByRole("textbox", { name: "Key" });
  await page.getByRole("textbox", { name: "Name" }).fill("Another");
  await key.fill("taken");
  await page.getByRole("button", { name: "Create flag" }).click();
  await expect(key).toHaveAttribute("aria-invalid", "true");
  await scriptsReady(page);
  await key.fill("free");
  await page.getByRole("button", { name: "Create flag" }).click();
  await expect(page).toHaveURL(/\/dashboard\/flags\/free/);
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New flag");
  await page.reload();
  await expect(key).not.toHaveAttribute("aria-invalid", "true");
});

test("each flag is a card on a phone", async ({ page, server, api }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await api.createEnvironment("Web shop", "staging");
  for (const key of ["first", "second", "third", "fourth"]) {
    await api.createFlag(key, `The ${key} flag`);
  }
  await api.createFlag("a".repeat(128), "A name of many words ".repeat(9).trim());
  await signIn(page, server);
  const card = page.getByRole("row", { name: "A name of many words" });
  await expect(card.getByText("staging", { exact: true })).toBeVisible();
  await expect(card.getByText("Last 24h", { exact: true })).toBeVisible();
  const [last, footer] = await Promise.all([
    page.getByRole("row", { name: "The first flag" }).boundingBox(),
    page.getByText("Times are in").boundingBox(),
  ]);
  expect(footer?.y).toBeGreaterThan((last?.y ?? 0) + (last?.height ?? 0));
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBe(0);
});

test("a key is copied from its row", { tag: "@scripts" }, async ({
  page,
  context,
  server,
  api,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await page.getByRole("button", { name: "Copy the key new_checkout" }).click();
  await expect(page.getByText("Copied new_checkout")).toBeAttached();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("new_checkout");
});

test("reloading the list, and going back to it, keep the place", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  for (let number = 0; number < 15; number++) {
    await api.createFlag(`flag_${number}`, `Flag ${number}`);
  }
  await page.setViewportSize({ width: 1280, height: 500 });
  await signIn(page, server);
  const list = page.locator(".flags-panel");
  const place = () => list.evaluate((panel) => panel.scrollTop);
  await list.evaluate((panel) => panel.scrollTo(0, 200));
  await page.reload();
  await expect.poll(place).toBe(200);
  const flag = page.getByRole("link", { name: "Flag 5", exact: true });
  await flag.scrollIntoViewIfNeeded();
  const left = await place();
  expect(left).toBeGreaterThan(0);
  await flag.click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Flag 5");
  await page.goBack();
  await expect.poll(place).toBe(left);
  await page.getByRole("link", { name: "Flags" }).first().click();
  await scriptsReady(page);
  await expect.poll(place).toBe(0);
});
