import type { Locator, Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import {
  country,
  createCheckoutFlag,
  flagAddress,
  operand,
  ruleLines,
} from "../support/flag-page.ts";
import { closedGate, hold } from "../support/hold.ts";
import { expect, signIn, test } from "../support/test.ts";

test("the slider and the number stay in sync, and a sentence explains the value", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.setRollout(flag, production, 25);
  await signIn(page, server);
  const hydrate = await hold(page, "**/*.wasm");
  await page.goto(`${flagAddress}?edit=rollout`, { waitUntil: "commit" });
  const slider = page.getByLabel("Percentage slider");
  const number = page.getByLabel("Percentage", { exact: true });
  await number.fill("30");
  hydrate();
  await expect(slider).toHaveValue("30");
  await expect(slider).toHaveAttribute("data-ready", "true");
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await expect(number).toHaveValue("31");
  await expect(page.getByText("31% of users are ON, by userId")).toBeVisible();
  await page.getByRole("button", { name: "50%" }).click();
  await expect(number).toHaveValue("50");
  await expect(slider).toHaveValue("50");
  await number.fill("40");
  await expect(slider).toHaveValue("40");
  await page.getByLabel("Tenants, by tenantId").check();
  await expect(page.getByText("40% of tenants are ON, by tenantId")).toBeVisible();
  await expect(page.getByText("The first 40 are ON.")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save rollout" }).click();
  await expect(page.locator("#rollout")).toContainText("40% of tenants are ON, by tenantId");
});

test("removing the rollout warns that it turns the flag on for everyone", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.setRollout(flag, production, 5);
  await signIn(page, server);
  await page.goto(flagAddress);
  await page.getByRole("group", { name: "Rollout" }).getByRole("link", { name: "Remove" }).click();
  await expect(page.getByText("Result: ON for everyone.")).toBeVisible();
  await page.getByRole("button", { name: "Remove rollout" }).click();
  await expect(page.getByRole("link", { name: "Add rollout" })).toBeVisible();
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toEqual({
    enabled: true,
    reason: "flag_enabled",
  });
});

/** Returns the locator of the form that asks who gets the flag. */
function recipeForm(page: Page): Locator {
  return page.getByRole("form", { name: "Rollout" });
}

/** Fills in the only condition: the country. */
async function chooseCountry(page: Page, name: string): Promise<void> {
  await recipeForm(page).getByLabel("Attribute").fill("country");
  await operand(recipeForm(page)).fill(name);
}

test("a percentage of the users in one country takes one form, and can be undone", async ({
  page,
  server,
  api,
}) => {
  const { production } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(flagAddress);
  await page.getByRole("link", { name: "Add rollout" }).click();
  await expect(page.getByLabel("Percentage", { exact: true })).toHaveValue("");
  await expect(recipeForm(page).getByLabel("Attribute")).toBeHidden();
  await page.getByLabel("A percentage of users where …").check();
  await page.getByLabel("Percentage", { exact: true }).fill("10");
  await chooseCountry(page, "DE");
  await page.getByRole("button", { name: "Save", exact: true }).last().click();
  await expect(ruleLines(page)).toHaveText([
    "OFF when country is given but not DE",
    "10% of everyone left is ON, by userId",
    "everyone else is OFF",
  ]);
  const answer = (context: object) =>
    evaluate(server, production.sdkKey, "checkout_v2", context).then(({ enabled }) => enabled);
  // The bucket of "max" is 9, and that of "ada" is 63.
  expect(await answer({ userId: "max", country: "DE" })).toBe(true);
  expect(await answer({ userId: "ada", country: "DE" })).toBe(false);
  expect(await answer({ userId: "max", country: "AT" })).toBe(false);
  await page.goto(`${flagAddress}/history`);
  await page.getByRole("link", { name: "Revert" }).first().click();
  await page.getByRole("button", { name: "Revert in production" }).click();
  await expect(page.locator(".toast")).toBeVisible();
  await page.goto(flagAddress);
  await expect(ruleLines(page)).toHaveText(["everyone is ON"]);
});

test("only and except add a rule, and the rollout that it needs", async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("FR", 1));
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=recipe`);
  await page.getByLabel("Only users where …").check();
  await expect(page.getByLabel("Percentage", { exact: true })).toBeHidden();
  await chooseCountry(page, "DE");
  await page.getByRole("button", { name: "Save", exact: true }).last().click();
  await expect(ruleLines(page)).toHaveText([
    "ON when country is FR",
    "ON when country is DE",
    "everyone else is OFF",
  ]);
  await page.goto(`${flagAddress}?edit=rollout`);
  await page.getByRole("link", { name: "Limit it to users where …" }).click();
  await page.getByLabel("Everyone but users where …").check();
  await chooseCountry(page, "AT");
  await page.getByRole("button", { name: "Save", exact: true }).last().click();
  await expect(ruleLines(page)).toHaveText([
    "ON when country is FR",
    "ON when country is DE",
    "OFF when country is AT",
    "everyone else is ON",
  ]);
});

test("the preview names and counts the users who join without the attribute", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=recipe`);
  const form = recipeForm(page);
  await expect(page.locator("#recipe-form[data-ready]")).toBeVisible();
  await page.getByLabel("A percentage of users where …").check();
  await page.getByRole("button", { name: "100%" }).click();
  await expect(page.getByLabel("Percentage slider")).toHaveValue("100");
  await chooseCountry(page, "DE");
  await expect(form).toContainText(
    "Every user with a userId where country is DE gets ON; all others get OFF.",
  );
  await expect(form).toContainText("Users without country join them");
  await page.getByText("Try it on sample contexts").click();
  await expect(page.getByLabel("Sample contexts")).toHaveValue("");
  const sample = [
    { userId: "ada", country: "DE" },
    { userId: "eve" },
    { userId: 1 },
    ...Array.from({ length: 102 }, () => ({ userId: "linus", country: "AT" })),
  ];
  await page.getByLabel("Sample contexts").fill(JSON.stringify(sample));
  await expect(page.locator(".effect-told")).toHaveText(
    "2 of 104 get ON, 1 of them only because an attribute is missing: 0 turn on, 102 turn off, 2 stay the same. 1 could not be read as a context.",
  );
  const named = page.locator(".effect-named li");
  await expect(named.first()).toHaveText('ON → OFF {"country":"AT","userId":"linus"}');
  await expect(named.last()).toHaveText("and 2 more");
  await form.getByRole("button", { name: "Add condition" }).click();
  const second = form.getByRole("group", { name: "Condition 2" });
  await second.getByLabel("Type of the value").selectOption("number");
  await expect(operand(second)).toHaveAttribute("placeholder", "whole number");
  await expectAccessible(page);
});

test("a preview is of the latest input, and a failure is reported until the next one", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/net::ERR_FAILED/);
  const { flag, production } = await createCheckoutFlag(api);
  await api.setRollout(flag, production, 25);
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=rollout`);
  const preview = page.getByRole("group", { name: "Effect of this change" });
  await expect(preview).toContainText("Nothing would change.");
  const { opened, open } = closedGate();
  await page.route("**/dashboard/api/preview", async (route) => {
    const fields = route.request().postData() ?? "";
    if (fields.includes("percentage=30")) {
      await opened;
    }
    await (fields.includes("percentage=50") ? route.abort() : route.fallback());
  });
  const number = page.getByLabel("Percentage", { exact: true });
  const request = page.waitForRequest("**/dashboard/api/preview");
  await number.fill("30");
  const late = (await request).response();
  await number.fill("40");
  await expect(preview).toContainText("40% of users are ON");
  open();
  await (await late)?.finished();
  const reason = preview.getByText("Pennon responded unexpectedly.");
  await number.fill("50");
  await expect(reason).toBeVisible();
  await expect(preview).toContainText("40% of users are ON");
  await number.fill("60");
  await expect(preview).toContainText("60% of users are ON");
  await expect(reason).toBeHidden();
});

test("a rollout without its percentage or condition keeps the input and names the fields", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 400/);
  await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=recipe`);
  await page.getByLabel("A percentage of users where …").check();
  await recipeForm(page).getByLabel("Attribute").fill("country");
  await page.getByLabel("Percentage", { exact: true }).fill("");
  await page.getByRole("button", { name: "Save", exact: true }).last().click();
  await expect(page.getByText("The percentage must be a whole number.")).toBeVisible();
  await expect(page.getByLabel("A percentage of users where …")).toBeChecked();
  await expect(recipeForm(page).getByLabel("Attribute")).toHaveValue("country");
});

for (const [edit, save] of [
  ["rule", "Add rule"],
  ["rollout", "Save rollout"],
  ["recipe", "Save"],
] as const) {
  test(`a preview that arrives late does not move the button “${save}”`, {
    tag: "@scripts",
  }, async ({ page, server, api }) => {
    const { flag, production } = await createCheckoutFlag(api);
    await api.setRollout(flag, production, 25);
    await signIn(page, server);
    const open = await hold(page, "**/dashboard/api/preview");
    const requested = page.waitForRequest("**/dashboard/api/preview");
    await page.goto(`${flagAddress}?edit=${edit}`);
    await requested;
    // The first button of this name is the hidden one for Enter.
    const button = page.getByRole("button", { name: save, exact: true }).last();
    const before = await button.boundingBox();
    open();
    await expect(page.getByRole("group", { name: "Effect of this change" })).toContainText(
      /would change|users are/,
    );
    expect(await button.boundingBox()).toEqual(before);
  });
}
