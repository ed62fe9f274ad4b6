import type { Route } from "@playwright/test";
import { evaluate } from "../support/api.ts";
import { closedGate, hold } from "../support/hold.ts";
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

test("a switch changes the evaluation, and keeps its state", async ({ page, server, api }) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);

  const inStaging = page.getByRole("switch", { name: "New checkout in staging" });
  const inProduction = page.getByRole("switch", { name: "New checkout in production" });
  await expect(inStaging).not.toBeChecked();
  await inStaging.click();
  await expect(inStaging).toBeChecked();
  await expect
    .poll(() => evaluate(server, staging.sdkKey, "new_checkout"))
    .toEqual({ enabled: true, reason: "flag_enabled" });
  expect(await evaluate(server, production.sdkKey, "new_checkout")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });

  await page.goto("/dashboard/flags");
  await expect(inStaging).toBeChecked();
  await expect(inProduction).not.toBeChecked();

  await inStaging.click();
  await expect(inStaging).not.toBeChecked();
  await expect
    .poll(() => evaluate(server, staging.sdkKey, "new_checkout"))
    .toEqual({ enabled: false, reason: "flag_disabled" });
});

test("a switch does not reload the page", { tag: "@scripts" }, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await scriptsReady(page);

  let loads = 0;
  page.on("framenavigated", () => loads++);
  const answered = page.waitForResponse((answer) => answer.url().includes("/dashboard/api/"));
  await page.getByRole("switch", { name: "New checkout in staging" }).click();
  expect((await answered).ok()).toBe(true);
  await expect(page.getByRole("switch", { name: "New checkout in staging" })).toBeChecked();
  expect(loads).toBe(0);
});

test("a switch shows its new state at once, and ignores further presses until the answer", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await page.clock.install();
  await signIn(page, server);
  await scriptsReady(page);
  let requests = 0;
  const answer = await hold(page, "**/set-enabled");
  page.on("request", (request) => {
    requests += request.url().endsWith("/set-enabled") ? 1 : 0;
  });
  const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
  await flagSwitch.press("Space");
  await expect(flagSwitch).toBeChecked();
  await expect(flagSwitch).toHaveAttribute("aria-busy", "true");
  await flagSwitch.press("Space");
  answer();
  await expect(page.getByText("New checkout is on in staging.")).toBeVisible();
  await expect(flagSwitch).toBeFocused();
  await expect(flagSwitch).toBeChecked();
  expect(requests).toBe(1);
  await page.clock.runFor(4_000);
  await expect(page.locator(".toast")).toContainText("New checkout is on in staging.");
});

test("a refused switch goes back and shows the reason", { tag: "@scripts" }, async ({
  page,
  context,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 401/);
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await scriptsReady(page);

  await context.clearCookies();
  const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
  await flagSwitch.click();
  await expect(page.getByRole("alert")).toContainText("Not switched");
  await expect(flagSwitch).not.toBeChecked();
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
  await expect(page.getByText("The service cannot be reached. The list may be")).toBeAttached();
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
  await page.getByRole("combobox", { name: "Flag status" }).selectOption("On");
  await expect(rows).toHaveCount(1);
  await expect(rows.getByRole("switch")).toHaveCount(1);
  await expect(page).toHaveURL(/q=CHECKOUT&environment=[0-9a-f-]{36}&is=on$/);

  await page.getByRole("searchbox").fill("");
  await page.getByRole("combobox", { name: "Flag status" }).selectOption("On for some");
  await expect(page.getByRole("row", { name: "Dark colors" })).toBeVisible();
  await expect(rows).toHaveCount(1);

  // Rows that appear later are as interactive as the initial ones.
  await page.getByRole("switch", { name: "Dark colors in staging" }).click();
  await expect(page.getByText("Dark colors is off in staging.")).toBeVisible();
  // The flag leaves the list, but can still be switched back.
  await expect(rows).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Dark colors is on again in staging.")).toBeVisible();
  await expect(rows).toHaveCount(1);

  // Opening the address elsewhere shows the same list.
  await page.goto(page.url());
  await expect(rows).toHaveCount(1);
  await expect(page.getByRole("combobox", { name: "Flag status" })).toHaveValue("partly");
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
    await page.getByRole("combobox", { name: "Flag status" }).selectOption("On");
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

test("a switch can be undone", { tag: "@scripts" }, async ({ page, server, api }) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
  await scriptsReady(page);
  await flagSwitch.click();
  await expect(page.getByText("New checkout is on in staging.")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("New checkout is off again in staging.")).toBeVisible();
  await expect(flagSwitch).not.toBeChecked();
  expect(await evaluate(server, staging.sdkKey, "new_checkout")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });
});

test("a protected environment asks for confirmation without scripts too, on the flag's page", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  test.skip(javaScriptEnabled !== false, "With scripts the list asks.");
  const production = await api.createEnvironment("Web shop", "production");
  await api.protect(production);
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.setRollout(flag, production, 25);
  await signIn(page, server);
  const flagSwitch = page.getByRole("switch", { name: "New checkout in production" });
  await flagSwitch.click();
  await expect(page.getByText("25% of users are ON, by userId; everyone else")).toBeVisible();
  await page.getByRole("link", { name: "Cancel" }).click();
  await expect(flagSwitch).not.toBeChecked();
  await flagSwitch.click();
  await page.getByRole("button", { name: "Turn on in production" }).click();
  await expect(flagSwitch).toBeChecked();
  await expect(page.getByRole("button", { name: "Turn on in production" })).toHaveCount(0);
});

test("a protected environment asks for confirmation of a switch, and shows the effect", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const production = await api.createEnvironment("Web shop", "production");
  await api.protect(production);
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.setRollout(flag, production, 25);
  await signIn(page, server);
  const flagSwitch = page.getByRole("switch", { name: "New checkout in production" });
  await scriptsReady(page);

  await flagSwitch.press("Space");
  const question = page.getByRole("dialog", { name: "Turn on New checkout in production?" });
  await expect(question).toContainText("25%");
  await expect(question.getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(question).toBeHidden();
  await expect(flagSwitch).not.toBeChecked();
  await expect(flagSwitch).toBeFocused();

  await flagSwitch.press("Space");
  await question.getByRole("button", { name: "Turn on in production" }).click();
  await expect(flagSwitch).toBeChecked();
  await expect(flagSwitch).toHaveAttribute("data-state", "partly");
  // Undoing does not ask for confirmation.
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("New checkout is off again in production.")).toBeVisible();
});

test("a concurrent switch is not overwritten", async ({
  page,
  server,
  api,
  browserErrors,
  javaScriptEnabled,
}) => {
  browserErrors.ignore(/status of 409/);
  const staging = await api.createEnvironment("Web shop", "staging");
  const flag = await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await api.switch(flag, staging, true);
  await api.switch(flag, staging, false);

  const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
  await flagSwitch.click();
  await expect(page.getByRole("alert")).toContainText("Somebody else changed this first");
  await expect(flagSwitch).not.toBeChecked();
  if (javaScriptEnabled) {
    await page.getByRole("link", { name: "Show the current state" }).click();
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(flagSwitch).not.toBeChecked();
  }
});

test("a flag can be created in a dialog, with a key derived from its name", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("cafe_creme", "Café");
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "New flag" });
  const [name, key] = [
    dialog.getByRole("textbox", { name: "Name" }),
    dialog.getByRole("textbox", { name: "Key" }),
  ];
  await expect(name).toBeFocused();
  await page.keyboard.type("(Café crème!)");
  await expect(key).toHaveValue("cafe_creme");
  await expect(dialog.getByText("already has this key")).toBeVisible();
  await name.fill("a".repeat(200));
  await expect(key).toHaveValue("a".repeat(128));

  await key.fill("-wrong");
  await expect(dialog.getByText("must be 1 to 128 letters")).toBeVisible();
  await key.fill("cafe_au_lait");
  await expect(dialog.getByText("This key is available.")).toBeVisible();
  // A key that was edited does not follow the name.
  await name.fill("Coffee with milk");
  await expect(key).toHaveValue("cafe_au_lait");

  await name.press("Enter");
  await expect(dialog).toBeHidden();
  await expect(page.getByText("cafe_au_lait").first()).toBeVisible();
});

test("a dialog keeps the input when the service refuses it", { tag: "@scripts" }, async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 4\d\d/);
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("taken", "Taken");
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).click();
  const dialog = page.getByRole("dialog", { name: "New flag" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("Another");
  await dialog.getByRole("textbox", { name: "Key" }).fill("taken");
  await dialog.getByRole("button", { name: "Create flag" }).click();
  await expect(dialog.getByRole("textbox", { name: "Key" })).toHaveAttribute(
    "aria-invalid",
    "true",
  );
  await expect(dialog.getByRole("textbox", { name: "Key" })).toBeFocused();
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("Another");
  await dialog.getByRole("link", { name: "Cancel" }).click();
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL(/\/dashboard\/flags$/);
  // The browser does not ask about the input in a dialog that was closed.
  await page.getByRole("link", { name: "New flag" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("Another");
  await page.keyboard.press("Escape");
  page.on("dialog", (question) => question.dismiss());
  await page.getByRole("link", { name: "Audit", exact: true }).click();
  await expect(page).toHaveURL(/\/dashboard\/audit/);
});

test("a dialog keeps the input without the service, and sends it once afterwards", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/ERR_FAILED|status of 502/);
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).click();
  const dialog = page.getByRole("dialog", { name: "New flag" });
  const name = dialog.getByRole("textbox", { name: "Name" });
  const create = dialog.getByRole("button", { name: "Create flag" });
  const alert = dialog.getByRole("alert");
  await name.fill("Dark mode");
  const form = "**/dashboard/new-flag**";
  for (const fail of [
    (route: Route) => route.abort(),
    (route: Route) =>
      route.fulfill({
        status: 502,
        contentType: "text/html",
        body: "<p role=alert>Bad gateway</p>",
      }),
  ]) {
    await page.route(form, fail, { times: 1 });
    await create.click();
    await expect(alert).toHaveText(/^The service cannot be reached\. What you typed is still here/);
    await expect(name).toHaveValue("Dark mode");
    await expect(create).toBeEnabled();
  }
  const release = await hold(page, form);
  await create.click();
  await expect(create).toBeDisabled();
  await expect(alert).toBeEmpty();
  release();
  await expect(page).toHaveURL(/\/dashboard\/flags\/dark_mode/);
});

test("a form opens in a new tab instead of the dialog if the browser is asked to", {
  tag: "@scripts",
}, async ({ page, context, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await scriptsReady(page);
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "New flag" }).click({ modifiers: ["ControlOrMeta"] });
  await expect(await opened).toHaveURL(/\/dashboard\/new-flag/);
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("the verdict on an earlier key is not shown for the current one", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createFlag("taken", "Taken");
  await signIn(page, server);
  await page.goto("/dashboard/new-flag");
  await scriptsReady(page);
  const key = page.getByLabel("Key");
  await key.fill("taken");
  const taken = page.getByText("already has this key");
  await expect(taken).toBeVisible();
  const { opened, open } = closedGate();
  await page.route("**/check-key", async (route) => {
    if (!route.request().postData()?.includes("dark_mode")) {
      await opened;
    }
    await route.fallback();
  });
  await key.fill("dark");
  await expect(taken).toBeHidden();
  const late = page.waitForRequest("**/check-key");
  await key.fill("taken");
  const request = await late;
  await key.fill("dark_mode");
  await expect(page.getByText("This key is available.")).toBeVisible();
  open();
  await (await request.response())?.finished();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  await expect(page.getByText("This key is available.")).toBeVisible();
});

test("a dialog asks for the reason of a new flag, and canceling leads back to the form", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/status of 409/);
  const production = await api.createEnvironment("Web shop", "production");
  await api.protect(production, true);
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).click();
  const dialog = page.getByRole("dialog", { name: "New flag" });
  const name = dialog.getByRole("textbox", { name: "Name" });
  const create = dialog.getByRole("button", { name: "Create flag" });
  await name.pressSequentially("Dark mode");
  for (const reason of ["", "INC-481"]) {
    await create.click();
    await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect(name).toHaveValue("Dark mode");
  }
  await create.click();
  await dialog.getByLabel("Reason").fill("INC-481");
  await dialog.getByRole("button", { name: "Create dark_mode" }).click();
  await expect(page).toHaveURL(/\/dashboard\/flags\/dark_mode/);
});

test("a dialog says that its user has lost the role", { tag: "@scripts" }, async ({
  page,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 403/);
  await api.createEnvironment("Web shop", "staging");
  const ben = await api.createUser("ben@example.com", "editor");
  await signIn(page, ben);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).click();
  const dialog = page.getByRole("dialog", { name: "New flag" });
  await dialog.getByRole("textbox", { name: "Name" }).pressSequentially("Dark mode");
  await api.setRole(ben, "viewer");
  await dialog.getByRole("button", { name: "Create flag" }).click();
  await expect(dialog.getByRole("alert")).toHaveText(/^Your role does not allow this./);
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("Dark mode");
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
