import { expectAccessible } from "../support/accessible.ts";
import { expect, signIn, test } from "../support/test.ts";

test.describe("the palette", { tag: "@scripts" }, () => {
  test("opens a flag with the keyboard alone", async ({ page, server, api }) => {
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("checkout_v2", "New checkout");
    await api.createFlag("dark_mode", "Dark mode");
    await signIn(page, server);
    const jump = page.getByRole("button", { name: "Jump to" });
    await expect(jump).toHaveAttribute("data-ready", "true");

    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    const field = palette.getByRole("combobox");
    await expect(field).toBeFocused();
    const options = palette.getByRole("option");
    await expect(options.first()).toContainText("Flags");
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
    const jump = page.getByRole("button", { name: "Jump to" });
    await expect(jump).toHaveAttribute("data-ready", "true");
    await jump.click();
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await expect(palette.getByRole("option").first()).toContainText("Flags");
    await palette.getByRole("combobox").fill("check");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/dashboard/flags/checkout_v2");
  });

  test("opens environments and pages, and closes", async ({ page, server, api }) => {
    const staging = await api.createEnvironment("Web shop", "staging");
    await api.createEnvironment("Web shop", "production");
    await signIn(page, server);
    const jump = page.getByRole("button", { name: "Jump to" });
    await expect(jump).toHaveAttribute("data-ready", "true");
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
    await expect(page.getByRole("button", { name: "Jump to" })).toHaveAttribute(
      "data-ready",
      "true",
    );
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await palette.getByRole("combobox").fill("checkout_7");
    await expect(palette.getByRole("option").first()).toContainText("Part 7 of the checkout");
    await expect(palette.getByRole("option")).toHaveCount(8);
  });

  test("reports that the session has ended", async ({ page, context, server, browserErrors }) => {
    browserErrors.ignore(/status of 401/);
    await signIn(page, server);
    await expect(page.getByRole("button", { name: "Jump to" })).toHaveAttribute(
      "data-ready",
      "true",
    );
    await context.clearCookies();
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await expect(palette.getByText("Your session has ended.")).toBeVisible();
  });
});

test("a question mark opens help, but not in a text field", { tag: "@scripts" }, async ({
  page,
  server,
}) => {
  await signIn(page, server);
  await expect(page.getByRole("button", { name: "Jump to" })).toHaveAttribute("data-ready", "true");
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Shortcuts" });
  await expect(help).toContainText("Jump to any flag");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();

  await page.goto("/dashboard/new-flag");
  await page.getByLabel("Name").fill("What");
  await page.getByLabel("Name").press("?");
  await expect(help).toBeHidden();
  await expect(page.getByLabel("Name")).toHaveValue("What?");
});

test("help is a page too", async ({ page, server }) => {
  await signIn(page, server);
  if (await page.getByRole("button", { name: "Menu" }).isVisible()) {
    await page.getByRole("button", { name: "Menu" }).click();
  }
  await page.getByRole("link", { name: "Help" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Help");
  await expect(page.getByText("Without a rollout, the flag is on")).toBeVisible();
});
