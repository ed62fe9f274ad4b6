import type { Page } from "@playwright/test";
import type { Api } from "../support/api.ts";
import {
  country,
  createCheckoutFlag,
  flagAddress,
  operand,
  ruleFormReady,
  ruleLines,
} from "../support/flag-page.ts";
import type { Server } from "../support/server.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test("a concurrent change of the name is not overwritten silently", async ({
  page,
  context,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(flagAddress);
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Name").fill("Mine");

  const other = await context.newPage();
  await other.goto(`${flagAddress}?edit=details`);
  await other.getByLabel("Name").fill("Theirs");
  await other.getByRole("button", { name: "Save" }).click();
  await expect(other.getByRole("heading", { level: 1 })).toHaveText("Theirs");

  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert")).toContainText("Name: Theirs");
  await expect(page.getByLabel("Name")).toHaveValue("Mine");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Mine");
});

test("an outdated order is not saved", async ({
  page,
  server,
  api,
  browserErrors,
  javaScriptEnabled,
}) => {
  browserErrors.ignore(/status of 409/);
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("AT", 1));
  await api.addRule(flag, production, country("CH", 2));
  await signIn(page, server);
  await page.goto(flagAddress);
  if (javaScriptEnabled) {
    await scriptsReady(page);
  }
  const up = page
    .getByRole("group", { name: "ON when country is CH" })
    .getByRole("button", { name: "Move up" });
  if (javaScriptEnabled) {
    await up.click();
    await api.addRule(flag, production, country("DE", 3));
    // The new rule does not undo the unsaved order.
    await expect(page.locator(".bars")).toContainText("while you were editing");
    await expect(ruleLines(page)).toHaveText([
      "ON when country is CH",
      "ON when country is AT",
      "everyone else is ON",
    ]);
    await page.getByRole("button", { name: "Save order" }).click();
  } else {
    await api.addRule(flag, production, country("DE", 3));
    await up.click();
  }
  await expect(page.getByRole("alert")).toContainText("Somebody else changed this first");
  await expect(ruleLines(page)).toContainText([
    "ON when country is AT",
    "ON when country is CH",
    "ON when country is DE",
  ]);
});

test("two editors of one rule: the second sees the conflict, keeps the input, and decides", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 40[49]/);
  const { flag, production } = await createCheckoutFlag(api);
  const rule = await api.addRule(flag, production, country("DE", 1));
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=rule&rule=${rule.id}`);
  const value = operand(page);
  await value.fill("CH");
  await api.replaceRule(rule, country("AT", 1));
  const save = page.getByRole("button", { name: "Save rule" }).last();
  await save.click();
  await expect(page.getByRole("alert")).toContainText("The rule is now “ON when country is AT”.");
  await expect(value).toHaveValue("CH");
  expect(JSON.stringify(await api.rules(flag, production))).toContain('"AT"');
  await save.click();
  await expect(page.locator(".rule")).toContainText("ON when country is CH");

  await page.goto(`${flagAddress}?edit=rule&rule=${rule.id}`);
  await value.fill("FR");
  await api.deleteRule(rule);
  await save.click();
  await expect(page.getByRole("alert")).toContainText("The rule was deleted.");
  await expect(value).toHaveValue("FR");
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.locator(".rule")).toContainText("ON when country is FR");
});

/** Opens a form for a flag that has an environment, and returns the flag. */
async function openForm(page: Page, server: Server, api: Api, edit: string) {
  await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=${edit}`);
  return flag;
}

test("a rule for a flag that was archived meanwhile can be sent again after it is restored", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const flag = await openForm(page, server, api, "rule");
  await page.getByLabel("Attribute").fill("country");
  await operand(page).fill("DE");
  await api.archive(flag);
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.getByRole("heading", { name: "Not saved" })).toBeVisible();
  await expect(page.getByRole("alert")).toContainText("archived");
  await api.restore(flag);
  await page.getByRole("button", { name: "Send again" }).click();
  await expect(page.locator(".rule")).toContainText("ON when country is DE");
});

test("the details of a flag that was archived meanwhile replace the current ones after it is restored", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const flag = await openForm(page, server, api, "details");
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Mine");
  await api.archive(flag);
  const save = page.getByRole("button", { name: "Save" });
  await save.click();
  await expect(page.getByRole("alert")).toContainText("The flag was archived meanwhile.");
  await expect(name).toHaveValue("Mine");
  await api.restore(flag);
  await save.click();
  await expect(page.getByRole("alert")).toContainText("Somebody else changed this first.");
  await expect(name).toHaveValue("Mine");
  await save.click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Mine");
});

test("a rule for an environment whose key was rotated meanwhile reaches the one that replaced it", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${production.id}&edit=rule`);
  if (javaScriptEnabled) {
    await ruleFormReady(page);
  }
  await page.getByLabel("Attribute").fill("country");
  await operand(page).fill("DE");
  const replacement = await api.rotateKey(production);
  if (javaScriptEnabled) {
    await expect(page.locator(".bars")).toContainText("What you typed is still here.");
    await expect(page.getByLabel("Attribute")).toHaveValue("country");
  }
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.locator(".rule")).toContainText("ON when country is DE");
  expect(await api.rules(flag, replacement)).toHaveLength(1);
});

test("a rule of an environment whose key was rotated meanwhile can be saved again, and nobody is blamed", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const { flag, production } = await createCheckoutFlag(api);
  const rule = await api.addRule(flag, production, country("DE", 1));
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${production.id}&edit=rule&rule=${rule.id}`);
  const value = operand(page);
  await value.fill("CH");
  await api.rotateKey(production);
  const save = page.getByRole("button", { name: "Save rule" }).last();
  await save.click();
  await expect(page.getByRole("alert")).toContainText(
    "The key of this environment was rotated. The rule is now “ON when country is DE”.",
  );
  await expect(value).toHaveValue("CH");
  await save.click();
  await expect(page.locator(".rule")).toContainText("ON when country is CH");
});

test("two people add rules: the second sees the first rule before adding another", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const { flag, production } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=rule`);
  await page.getByLabel("Attribute").fill("country");
  await operand(page).fill("DE");
  await api.addRule(flag, production, country("AT", 1, false));
  const add = page.getByRole("button", { name: "Add rule", exact: true }).last();
  await add.click();
  await expect(page.getByRole("alert")).toContainText("Somebody else saved first.");
  await expect(page.locator(".rule").first()).toContainText("OFF when country is AT");
  await expect(operand(page)).toHaveValue("DE");
  await add.click();
  await expect(page.locator(".rule")).toHaveCount(2);
  await expect(ruleLines(page).nth(1)).toHaveText("ON when country is DE");
});

test("two editors of one rollout: the second sees the conflict and decides", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const { flag, production } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=rollout`);
  const percentage = page.getByLabel("Percentage", { exact: true });
  await percentage.fill("50");
  await api.setRollout(flag, production, 5);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText(
    "Current rollout: 5% of users are ON, by userId.",
  );
  await expect(percentage).toHaveValue("50");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.locator("#rollout")).toContainText("50% of users");
});

test("a session that ends while a form is open loses no input", async ({
  page,
  context,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 401/);
  await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=rule`);
  await page.getByLabel("Attribute").fill("country");
  await operand(page).fill("DE");
  await context.clearCookies();
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.getByText("What you typed is kept")).toBeVisible();
  await signIn(page, server);
  await expect(page.locator(".rule")).toContainText("ON when country is DE");
});
