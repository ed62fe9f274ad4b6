import type { Locator, Page } from "@playwright/test";
import { evaluate } from "../support/api.ts";
import {
  country,
  createCheckoutFlag,
  flagAddress,
  operand,
  ruleLines,
} from "../support/flag-page.ts";
import { expect, signIn, test } from "../support/test.ts";

/** Clicks, and counts the clicks. Typing into a field counts as one, unless it has the focus already. */
class Mouse {
  clicks = 0;

  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
  }

  async fill(target: Locator, text: string): Promise<void> {
    this.clicks += 1;
    await target.fill(text);
  }
}

/** Asks for 10% of the users in Germany on the page of a flag. */
async function rollOutInGermany(page: Page, mouse: Mouse): Promise<void> {
  await mouse.click(page.getByRole("link", { name: "Add rollout" }));
  await mouse.click(page.getByLabel("A percentage of users where …"));
  await mouse.fill(page.getByLabel("Percentage", { exact: true }), "10");
  await mouse.fill(page.getByLabel("Attribute"), "country");
  await mouse.fill(operand(page.locator("#recipe-form")), "DE");
  await mouse.click(page.getByRole("button", { name: "Save", exact: true }).last());
}

test("a novice rolls out to 10% of the customers in one country, in staging and then in production", async ({
  page,
  server,
  api,
}) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await signIn(page, server);
  const before = await api.configuration(flag, production);

  const mouse = new Mouse();
  await mouse.click(page.getByRole("link", { name: "New checkout" }));
  await mouse.click(page.getByRole("link", { name: /^staging/ }));
  await rollOutInGermany(page, mouse);
  await mouse.click(page.getByRole("switch"));
  await expect(page.getByRole("switch")).toBeChecked();
  // The switch moves before the server has answered, and the copy is of what the server has.
  await expect(page.locator("[role=switch][aria-busy]")).toHaveCount(0);
  await mouse.click(page.getByRole("link", { name: "Copy to…" }));
  await mouse.click(page.getByRole("button", { name: "Copy to production" }));
  await expect(page).toHaveURL(new RegExp(production.id));
  expect(mouse.clicks).toBeLessThanOrEqual(12);

  for (const { sdkKey } of [staging, production]) {
    // The bucket of "max" is 9, and that of "ada" is 63.
    for (const [userId, place, enabled] of [
      ["max", "DE", true],
      ["ada", "DE", false],
      ["max", "AT", false],
    ] as const) {
      const answer = await evaluate(server, sdkKey, "checkout_v2", { userId, country: place });
      expect(answer.enabled).toBe(enabled);
    }
  }

  const undo = new Mouse();
  await undo.click(page.locator(".toast").getByRole("button", { name: "Undo" }));
  await expect(page.locator(".toast")).toContainText(
    "Made 3 changes to checkout_v2 in production.",
  );
  expect(undo.clicks).toBeLessThanOrEqual(3);
  expect(await api.configuration(flag, production)).toEqual(before);
});

test("an expert adds the rollout to a flag with rules in a protected environment", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("FR", 1));
  await api.protect(production);
  await signIn(page, server);
  const mouse = new Mouse();
  await mouse.click(page.getByRole("link", { name: "New checkout" }));
  await rollOutInGermany(page, mouse);
  await mouse.click(page.getByRole("button", { name: "Roll out checkout_v2 to 10%" }));
  await expect(ruleLines(page)).toHaveText([
    "ON when country is FR",
    "OFF when country is given but not DE",
    "10% of everyone left is ON, by userId",
    "everyone else is OFF",
  ]);
  expect(mouse.clicks).toBeLessThanOrEqual(8);
  expect(new URL(page.url()).pathname).toBe(flagAddress);
});

test("after a day, the history takes the rollout back in three clicks", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${production.id}`);
  const before = await api.configuration(flag, production);
  await rollOutInGermany(page, new Mouse());
  await expect(page.locator("#rollout")).toContainText("10%");
  const mouse = new Mouse();
  await mouse.click(page.getByRole("link", { name: "History" }).first());
  await mouse.click(page.getByRole("link", { name: "Revert" }).first());
  await mouse.click(page.getByRole("button", { name: "Revert in production" }));
  await expect(page.locator(".toast")).toBeVisible();
  expect(mouse.clicks).toBeLessThanOrEqual(3);
  expect(await api.configuration(flag, production)).toEqual(before);
});
