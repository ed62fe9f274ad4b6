import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import { createCheckoutFlag } from "../support/flag-page.ts";
import { closedGate, hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test.describe("the palette", { tag: "@scripts" }, () => {
  test("opens a flag with the keyboard alone", async ({ page, server, api }) => {
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("checkout_v2", "New checkout");
    await api.createFlag("dark_mode", "Dark mode");
    await signIn(page, server);
    await scriptsReady(page);

    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    const field = palette.getByRole("combobox");
    await expect(field).toBeFocused();
    const options = palette.getByRole("option");
    await expect(options.first()).toContainText("Flags");
    // All places and actions fit, so that none is cut off.
    const list = palette.getByRole("listbox");
    expect(await list.evaluate((it) => it.scrollHeight - it.clientHeight)).toBe(0);
    await field.pressSequentially("CHECK");
    await expect(options).toHaveCount(1);
    await expect(options.first()).toContainText("New checkout");
    await expect(field).toHaveAttribute("aria-activedescendant", "palette-0");
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/dashboard/flags/checkout_v2");
  });

  test("opens the typed flag even before the results arrive", async ({ page, server, api }) => {
    await api.createFlag("checkout_v2", "New checkout");
    await signIn(page, server);
    await scriptsReady(page);
    await page.getByRole("button", { name: "Jump to" }).click();
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await expect(palette.getByRole("option").first()).toContainText("Flags");
    await palette.getByRole("combobox").fill("check");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/dashboard/flags/checkout_v2");
  });

  test("ignores results for an earlier text, and is opened again with its text selected", async ({
    page,
    server,
    api,
  }) => {
    await api.createFlag("checkout_v2", "New checkout");
    await api.createFlag("dark_mode", "Dark mode");
    await signIn(page, server);
    await scriptsReady(page);
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    const field = palette.getByRole("combobox");
    const options = palette.getByRole("option");
    await expect(options.first()).toContainText("Flags");
    const { opened, open } = closedGate();
    const destinations = "**/dashboard/api/destinations*";
    await page.route(destinations, async (route) => {
      if (route.request().postData()?.includes("dark")) {
        await opened;
      }
      await route.fallback();
    });
    const early = page.waitForRequest(destinations);
    await field.fill("dark");
    const request = await early;
    await field.fill("check");
    await expect(options).toHaveText([/New checkout/]);
    await expect(palette.getByText("1 result", { exact: true })).toBeAttached();
    open();
    await (await request.response())?.finished();
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    await expect(options).toHaveText([/New checkout/]);

    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("dark");
    await expect(field).toHaveValue("dark");
    await expect(options).toHaveText([/Dark mode/]);
  });

  test("opens environments and pages, and closes", async ({ page, server, api }) => {
    const staging = await api.createEnvironment("Web shop", "staging");
    await api.createEnvironment("Web shop", "production");
    await signIn(page, server);
    await scriptsReady(page);
    const jump = page.getByRole("button", { name: "Jump to" });
    await jump.click();
    const palette = page.getByRole("dialog", { name: "Jump to" });
    const field = palette.getByRole("combobox");
    const options = palette.getByRole("option");
    await field.fill("web shop");
    await expect(options).toHaveCount(2);
    await page.keyboard.press("ArrowDown");
    await expect(options.nth(1)).toHaveAttribute("aria-selected", "true");
    await page.keyboard.press("ArrowDown");
    await expect(options.nth(0)).toHaveAttribute("aria-selected", "true");
    await page.keyboard.press("ArrowUp");
    await expect(options.nth(1)).toContainText("staging");

    await field.fill("nothing like it");
    await expect(page.getByText("No matches.")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(field).toBeHidden();
    await expect(jump).toBeFocused();

    await page.keyboard.press("Meta+k");
    await field.fill("stag");
    await expect(options).toHaveCount(1);
    await options.first().click();
    await page.waitForURL(`**/dashboard/environments/${staging.id}`);
  });

  test("finds one flag among many by its key", async ({ page, server, api }) => {
    for (let number = 0; number < 120; number++) {
      await api.createFlag(`checkout_${number}`, `Part ${number} of the checkout`);
    }
    const first = await api.createFlag("checkout", "All of it");
    await api.archive(first);
    await signIn(page, server);
    await scriptsReady(page);
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await palette.getByRole("combobox").fill("checkout_7");
    await expect(palette.getByRole("option").first()).toContainText("Part 7 of the checkout");
    await expect(palette.getByRole("option")).toHaveCount(9);
    await palette.getByRole("option").last().click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Flags11");
  });

  test("turns a flag off in an environment, after asking", async ({ page, server, api }) => {
    const { flag, production } = await createCheckoutFlag(api);
    await signIn(page, server);
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await palette.getByRole("combobox").fill("turn off checkout in prod");
    const options = palette.getByRole("option");
    await expect(options.first()).toContainText("Turn off New checkout in production");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Turn off in production" }).click();
    await expect(page.locator("#configuration")).toContainText("Off for everyone");
    const { enabled } = await evaluate(server, production.sdkKey, flag.key);
    expect(enabled).toBe(false);
  });

  test("opens forms and people, and finds a flag in spite of a typing error", async ({
    page,
    server,
    api,
  }) => {
    await createCheckoutFlag(api);
    const vera = await api.createUser("vera@example.com", "viewer");
    await signIn(page, server);
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    const options = palette.getByRole("option");
    await palette.getByRole("combobox").fill("new fl");
    await expect(options).toHaveText([/New flag/]);
    await palette.getByRole("combobox").fill("vera");
    await expect(options).toHaveText([/vera@example\.com/]);
    await palette.getByRole("combobox").fill("chekcout");
    await expect(options).toHaveText([/New checkout/]);
    await palette.getByRole("combobox").fill("vera");
    await expect(options).toHaveText([/vera@example\.com/]);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/dashboard/people/${vera.id}`);
  });

  test("shows what was chosen last first", async ({ page, server, api }) => {
    await api.createFlag("checkout_a", "Checkout A");
    await api.createFlag("checkout_b", "Checkout B");
    await signIn(page, server);
    const palette = page.getByRole("dialog", { name: "Jump to" });
    const options = palette.getByRole("option");
    await page.keyboard.press("Control+k");
    await palette.getByRole("combobox").fill("checkout");
    await expect(options).toHaveText([/Checkout A/, /Checkout B/]);
    await options.nth(1).click();
    await page.waitForURL("**/checkout_b");
    await page.keyboard.press("Control+k");
    await palette.getByRole("combobox").fill("checkout");
    await expect(options).toHaveText([/Checkout B/, /Checkout A/]);
    await options.nth(1).click();
    await page.waitForURL("**/checkout_a");
    await page.keyboard.press("Control+k");
    await palette.getByRole("combobox").fill("checkout");
    await expect(options).toHaveText([/Checkout A/, /Checkout B/]);
  });

  test("opens for keys that were pressed before the script was there", async ({
    page,
    server,
    api,
  }) => {
    await api.createFlag("checkout_v2", "New checkout");
    await signIn(page, server);
    const release = await hold(page, "**/*.js");
    await page.goto("/dashboard/environments", { waitUntil: "commit" });
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("checkout");
    release();
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await expect(palette.getByRole("combobox")).toHaveValue("checkout");
    await expect(palette.getByRole("option")).toHaveText([/New checkout/]);
  });

  test("reports that the session has ended", async ({ page, context, server, browserErrors }) => {
    browserErrors.ignore(/status of 401/);
    await signIn(page, server);
    await scriptsReady(page);
    await context.clearCookies();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await expect(palette.getByText("Your session has ended.")).toBeVisible();
  });
});

test("a question mark opens help, but not in a field", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await scriptsReady(page);
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Shortcuts" });
  await expect(help).toContainText("Jump to any flag");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();
  await page.keyboard.press("?");
  await help.getByText("Jump to any flag").click();
  await page.keyboard.press("Control+k");
  await expect(help).toBeVisible();
  await expect(page.getByRole("dialog", { name: "Jump to" })).toBeHidden();
  // On the backdrop.
  await page.mouse.click(5, 5);
  await expect(help).toBeHidden();
  await page.getByRole("combobox", { name: "Flag state" }).press("?");
  await expect(help).toBeHidden();

  await page.goto("/dashboard/new-flag");
  await page.getByLabel("Name").fill("What");
  await page.getByLabel("Name").press("?");
  await expect(help).toBeHidden();
  await expect(page.getByLabel("Name")).toHaveValue("What?");
});

test("letters open sections and rows", { tag: "@scripts" }, async ({ page, server, api }) => {
  await api.createFlag("checkout_a", "Checkout A");
  await api.createFlag("checkout_b", "Checkout B");
  await signIn(page, server);
  await scriptsReady(page);
  await page.keyboard.press("j");
  await expect(page.getByRole("link", { name: "Checkout B" })).toBeFocused();
  await page.keyboard.press("j");
  await expect(page.getByRole("link", { name: "Checkout A" })).toBeFocused();
  await page.keyboard.press("k");
  await expect(page.getByRole("link", { name: "Checkout B" })).toBeFocused();
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.waitForURL("**/checkout_a");
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await page.waitForURL("**/dashboard/environments");
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await page.waitForURL("**/dashboard/flags");
  await page.keyboard.press("/");
  await page.keyboard.type("gf");
  await expect(page.getByRole("searchbox")).toHaveValue("gf");
  await page.getByRole("searchbox").blur();
  await page.keyboard.press("/");
  await page.keyboard.type("check");
  await expect(page.getByRole("searchbox")).toHaveValue("check");
});

test("a letter long after a g opens no section", { tag: "@scripts" }, async ({ page, server }) => {
  await page.clock.install();
  await signIn(page, server);
  await page.goto("/dashboard/help");
  await scriptsReady(page);
  const visited: string[] = [];
  page.on("request", (request) => {
    if (request.isNavigationRequest()) {
      visited.push(new URL(request.url()).pathname);
    }
  });
  await page.keyboard.press("g");
  await page.clock.runFor(1_500);
  await page.keyboard.press("e");
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.waitForURL("**/dashboard/audit");
  expect(visited).toEqual(["/dashboard/audit"]);
});

test("shortcuts of a single key can be turned off", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await scriptsReady(page);
  await page.keyboard.press("?");
  const choice = page.getByLabel("Use shortcuts without Ctrl");
  await choice.uncheck();
  await page.keyboard.press("Escape");
  await page.reload();
  await scriptsReady(page);
  const help = page.getByRole("dialog", { name: "Shortcuts" });
  await page.keyboard.press("?");
  await page.keyboard.press("/");
  await expect(help).toBeHidden();
  await expect(page.getByRole("searchbox")).not.toBeFocused();
  await page.keyboard.press("Control+K");
  await expect(page.getByRole("combobox", { name: "Jump to" })).toBeFocused();
  await page.keyboard.press("Escape");

  await page.goto("/dashboard/help");
  const shown = page.getByRole("main").getByLabel("Use shortcuts without Ctrl");
  await expect(shown).not.toBeChecked();
  await shown.check();
  await shown.blur();
  await page.keyboard.press("?");
  await expect(help).toBeVisible();
  await page.reload();
  await expect(shown).toBeChecked();
});

test("help is a page too", async ({ page, server, api }) => {
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  if (await page.getByRole("button", { name: "Menu" }).isVisible()) {
    await page.getByRole("button", { name: "Menu" }).click();
  }
  await page.getByRole("link", { name: "Help" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Help");
  await expect(page.getByText("Without a rollout, the flag is on")).toBeVisible();
});
