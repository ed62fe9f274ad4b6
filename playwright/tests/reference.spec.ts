import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { expect, signIn, test } from "../support/test.ts";

/** The axe rules that the markup of Swagger UI breaks. */
const knownViolations = [
  "button-name",
  "heading-order",
  "label",
  "label-content-name-mismatch",
  "nested-interactive",
  "region",
  "scrollable-region-focusable",
  "select-name",
];

const operation = (page: Page, summary: string) =>
  page.locator(".opblock").filter({ hasText: summary });

test.describe("the reference of the API", { tag: "@scripts" }, () => {
  test("finds operations by words in their paths and summaries", async ({ page }) => {
    await page.goto("/docs");
    await expect(page.locator(".opblock-tag")).not.toHaveCount(0);
    const search = page.getByLabel("Search by method, path or summary");
    await search.fill("PUT rollout");
    await expect(page.locator(".opblock")).toHaveCount(1);
    await expect(page.locator(".opblock-summary-path")).toContainText("/rollout");
    await search.fill("invoice");
    await expect(page.locator(".opblock")).toHaveCount(0);
    await search.fill("lists flags");
    await expect(operation(page, "Lists flags.")).toBeVisible();
  });

  test("sends a request with the token that was entered", async ({ page, api, browserErrors }) => {
    browserErrors.ignore(/status of 401/);
    await api.createFlag("pay_by_invoice", "Pay by invoice");
    const token = await api.createToken("reference");
    await page.goto("/docs#/Flags/flags.list");
    const listing = operation(page, "Lists flags.");
    await listing.getByRole("button", { name: "Execute" }).click();
    const answer = listing.locator(".live-responses-table .response").first();
    await expect(answer.locator(".response-col_status")).toHaveText("401");

    await page.getByRole("button", { name: "Authorize" }).first().click();
    const dialog = page.locator(".dialog-ux");
    await expect(dialog.getByRole("textbox").first()).toBeFocused();
    await expect(dialog.getByRole("heading", { name: "accessToken" })).toBeInViewport();
    await page.keyboard.insertText(token);
    await dialog.getByRole("button", { name: "Apply credentials" }).first().click();
    await dialog.getByRole("button", { name: "Close" }).first().click();
    await listing.getByRole("button", { name: "Execute" }).click();
    await expect(answer.locator(".response-col_status")).toHaveText("200");
    await expect(answer.locator(".response-col_description")).toContainText("pay_by_invoice");
  });

  test("is legible in both themes, and keeps the chosen one", async ({ page, server }) => {
    await signIn(page, server);
    const remembered = page.waitForResponse((answer) => answer.request().method() === "POST");
    await page.getByRole("button", { name: "Dark" }).click();
    await remembered;
    await page.goto("/docs#/Rules/rules.create");
    await expect(page.locator("html")).toHaveCSS("color-scheme", "dark");
    await page.locator("html").evaluate((html) => html.removeAttribute("data-theme"));
    await operation(page, "Creates a rule").getByText("Edit Value").waitFor();
    await page.locator(".models-control").click();
    await expectAccessible(page, knownViolations);
  });

  test("fits a phone", async ({ page }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto("/docs#/Rules/rules.create");
    await operation(page, "Creates a rule").getByText("Edit Value").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
});

test.describe("without scripts", () => {
  test.use({ javaScriptEnabled: false });

  test("the reference links to the document", async ({ page }) => {
    await page.goto("/docs");
    const link = page.getByRole("main").getByRole("link", { name: "openapi.json" });
    await expect(link).toHaveAttribute("href", "/openapi.json");
  });
});
