import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import {
  country,
  createCheckoutFlag,
  flagAddress,
  operand,
  ruleFormReady,
  ruleLines,
  tabTo,
} from "../support/flag-page.ts";
import { hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test("the list describes the order of evaluation, including everyone else", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("AT", 20, false));
  await api.addRule(flag, production, country("DE", 10));
  await api.setRollout(flag, production, 25);
  await signIn(page, server);
  await page.goto(flagAddress);
  await expect(ruleLines(page)).toHaveText([
    "ON when country is DE",
    "OFF when country is AT",
    "25% of everyone left is ON, by userId",
    "everyone else is OFF",
  ]);
});

test("a rule and a rollout can be created with the keyboard alone", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  const { production } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(flagAddress);
  await tabTo(page, page.getByRole("link", { name: "Add rule" }));
  await page.keyboard.press("Enter");
  const first = page.getByRole("group", { name: "Condition 1" });
  const second = page.getByRole("group", { name: "Condition 2" });
  await expect(first.getByLabel("Attribute")).toBeFocused();
  if (javaScriptEnabled) {
    await ruleFormReady(page);
  }
  await page.keyboard.type("country");
  await tabTo(page, operand(first));
  await page.keyboard.type("DE");
  await tabTo(page, page.getByRole("button", { name: "Add condition" }));
  await page.keyboard.press("Enter");
  await expect(first.getByLabel("Attribute")).toHaveValue("country");
  await expect(operand(first)).toHaveValue("DE");
  await tabTo(page, second.getByLabel("Attribute"));
  await page.keyboard.type("plan");
  await tabTo(page, operand(second));
  await page.keyboard.type("pro");
  // Enter in a field submits the form, as in any form.
  await page.keyboard.press("Enter");
  await expect(page.locator(".rule")).toHaveCount(1);
  await expect(ruleLines(page)).toHaveText([
    "ON when country is DE and plan is pro",
    "everyone else is ON",
  ]);

  await tabTo(page, page.getByRole("link", { name: "Add rollout" }));
  await page.keyboard.press("Enter");
  const percentage = page.getByLabel("Percentage", { exact: true });
  await expect(percentage).toBeFocused();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("10");
  await page.keyboard.press("Enter");
  await expect(page.locator("#rollout")).toContainText("10% of everyone left is ON, by userId");

  const context = { country: "DE", customAttributes: { plan: "pro" } };
  expect(await evaluate(server, production.sdkKey, "checkout_v2", context)).toEqual({
    enabled: true,
    reason: "targeting_rule",
  });
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toEqual({
    enabled: false,
    reason: "rollout",
  });
});

test("values have types, and a sentence describes the rule while it is typed", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  await signIn(page, server);
  const hydrate = await hold(page, "**/*.wasm");
  await page.goto(`${flagAddress}?edit=rule`, { waitUntil: "commit" });
  const first = page.getByRole("group", { name: "Condition 1" });
  await first.getByLabel("Type of the value").selectOption("number");
  hydrate();
  await ruleFormReady(page);
  await expect(operand(first)).toHaveAttribute("placeholder", "whole number");
  await first.getByLabel("Type of the value").selectOption("text");
  const aloud = page.locator("#rule-aloud");
  await expect(aloud).toHaveText("Fill in the conditions to see the rule here.");
  await first.getByLabel("Attribute").fill("age");
  await expect(aloud).toHaveText("ON when age is “”");
  await first.getByLabel("Type of the value").selectOption("number");
  await first.getByLabel("Comparison").selectOption("is at least");
  await operand(first).fill("18");
  await expect(aloud).toHaveText("ON when age is at least 18");

  await page.getByRole("button", { name: "Add condition" }).click();
  const second = page.getByRole("group", { name: "Condition 2" });
  await expect(second.getByLabel("Attribute")).toBeFocused();
  await second.getByLabel("Attribute").fill("beta");
  const type = second.getByLabel("Type of the value");
  await operand(second).fill("false");
  await type.selectOption("true or false");
  await expect(aloud).toHaveText("ON when age is at least 18 and beta is false");
  await type.selectOption("text");
  await operand(second).fill("yes");
  await type.selectOption("true or false");
  await expect(aloud).toHaveText("ON when age is at least 18 and beta is true");
  await page.getByLabel("How the conditions combine").selectOption("any of these holds");
  await page.getByRole("radio", { name: "OFF" }).check();
  await expect(aloud).toHaveText("OFF when age is at least 18 or beta is true");

  const third = page.getByRole("group", { name: "Condition 3" });
  await page.getByRole("button", { name: "Add condition" }).click();
  await expect(aloud).toHaveText("Fill in the conditions to see the rule here.");
  await page.getByRole("button", { name: "Add condition" }).click();
  await page.getByRole("button", { name: "Remove condition 3" }).click();
  await expect(third.getByLabel("Attribute")).toBeFocused();
  await page.getByRole("button", { name: "Remove condition 1" }).click();
  await expect(third).toHaveCount(0);
  await expect(first.getByLabel("Attribute")).toHaveValue("beta");
  await expect(first.getByLabel("Attribute")).toBeFocused();
  await page.getByRole("button", { name: "Remove condition 2" }).click();
  await expect(aloud).toHaveText("OFF when beta is true");
  await expect(page.getByRole("button", { name: /^Remove condition/ })).toHaveCount(0);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.locator(".rule")).toContainText("OFF when beta is true");
  expect(await api.rules(flag, production)).toMatchObject([
    { logic: "or", value: false, conditions: [{ valueType: "boolean", valueBool: true }] },
  ]);
});

test("errors in a rule are shown at their fields, and the input is kept", async ({
  page,
  server,
  api,
  browserErrors,
  javaScriptEnabled,
}) => {
  browserErrors.ignore(/status of 400/);
  await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=rule`);
  const first = page.getByRole("group", { name: "Condition 1" });
  await first.getByLabel("Attribute").fill("age");
  await first.getByLabel("Type of the value").selectOption("number");
  if (javaScriptEnabled) {
    await ruleFormReady(page);
  }
  await operand(first).fill("eighteen");
  await page.getByRole("radio", { name: "OFF" }).check();
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(first).toContainText("The value must be a whole number.");
  await expect(first.getByLabel("Attribute")).toHaveValue("age");
  await expect(operand(first)).toHaveValue("eighteen");
  await expect(page.getByRole("radio", { name: "OFF" })).toBeChecked();

  // The errors are not those of another condition.
  await page.getByRole("button", { name: "Add condition" }).click();
  const second = page.getByRole("group", { name: "Condition 2" });
  await expect(second).toBeVisible();
  await expect(second).not.toContainText("The value");
  await expect(second.locator("[aria-invalid]")).toHaveCount(0);
  await page.getByRole("button", { name: "Remove condition 2" }).click();
  await operand(first).fill("18");
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.locator(".rule")).toContainText("OFF when age is 18");
});

test("a rule has at most 50 conditions, and a new one is empty", async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  const age = { attribute: "age", operator: ">=", valueType: "number", valueInt: 18 } as const;
  const beta = {
    attribute: "beta",
    operator: "==",
    valueType: "boolean",
    valueBool: false,
  } as const;
  const conditions = [beta, ...Array.from({ length: 48 }, () => age)];
  const { id } = await api.addRule(flag, production, { ...country("DE", 1), conditions });
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=rule&rule=${id}`);
  await expect(operand(page).first()).toHaveValue("false");
  const add = page.getByRole("button", { name: "Add condition" });
  await add.click();
  await expect(page.locator(".condition")).toHaveCount(50);
  await expect(add).toBeHidden();
  const last = page.getByRole("group", { name: "Condition 50" });
  await expect(last.getByLabel("Comparison")).toHaveValue("==");
  await expect(last.getByLabel("Comparison")).toContainText("comes after");
  await expect(last.getByLabel("Type of the value")).toHaveValue("string");
  await expect(operand(last)).toHaveAttribute("placeholder", "value");
  await expect(operand(last)).toHaveValue("");
  await page.getByRole("button", { name: "Remove condition 50" }).click();
  await expect(page.locator(".condition")).toHaveCount(49);
  await expect(add).toBeVisible();
});

test("a rule can be edited in place, and deleting it shows the effect first", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.addRule(flag, production, country("AT", 2));
  await signIn(page, server);
  await page.goto(flagAddress);
  const second = page.getByRole("group", { name: "ON when country is AT" });
  await second.getByRole("link", { name: "Edit" }).click();
  await operand(page).fill("CH");
  await page.getByRole("button", { name: "Save rule" }).last().click();
  await expect(page.locator(".rule")).toHaveCount(2);
  await expect(ruleLines(page)).toContainText(["ON when country is CH"]);

  const first = page.getByRole("group", { name: "ON when country is DE" });
  await first.getByRole("link", { name: "Delete" }).click();
  await expect(page.getByText("Result: ON when country is CH; everyone else is ON.")).toBeVisible();
  await page.getByRole("link", { name: "Keep rule" }).click();
  await first.getByRole("link", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete rule" }).click();
  await expect(page.locator(".rule")).toHaveCount(1);
  expect(await api.rules(flag, production)).toHaveLength(1);
});

test("buttons move rules, even without scripts", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  for (const [index, name] of ["AT", "CH", "DE"].entries()) {
    await api.addRule(flag, production, country(name, index + 1));
  }
  await signIn(page, server);
  await page.goto(flagAddress);
  const last = page.getByRole("group", { name: "ON when country is DE" });
  if (javaScriptEnabled) {
    await scriptsReady(page);
  }
  for (const place of [1, 0]) {
    await last.getByRole("button", { name: "Move up" }).press("Enter");
    await expect(ruleLines(page).nth(place)).toHaveText("ON when country is DE");
  }
  if (javaScriptEnabled) {
    await expect(page.getByText("Now rule 1 of 3.")).toBeAttached();
    await page.getByRole("button", { name: "Save order" }).click();
  }
  await expect(page.getByRole("button", { name: "Save order" })).toBeHidden();
  await expect
    .poll(async () => JSON.stringify(await api.rules(flag, production)).match(/"(AT|CH|DE)"/g))
    .toEqual(['"DE"', '"AT"', '"CH"']);
  await expect(ruleLines(page)).toHaveText([
    "ON when country is DE",
    "ON when country is AT",
    "ON when country is CH",
    "everyone else is ON",
  ]);
});

test("rules can be dragged, and the new order saved or discarded", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  for (const [index, name] of ["AT", "CH", "DE"].entries()) {
    await api.addRule(flag, production, country(name, index + 1));
  }
  await signIn(page, server);
  await page.goto(flagAddress);
  await scriptsReady(page);
  const lines = page.locator(".rule");
  const drag = async (button: "left" | "right" = "left") => {
    const handle = await lines.nth(2).locator(".handle").boundingBox();
    const goal = await lines.nth(0).boundingBox();
    if (handle === null || goal === null) {
      throw new Error("The rules are not there.");
    }
    await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
    await page.mouse.down({ button });
    await page.mouse.move(handle.x, goal.y + goal.height * 1.4, { steps: 8 });
    await page.mouse.move(handle.x, goal.y + goal.height * 0.2, { steps: 8 });
    await page.mouse.up({ button });
  };
  await drag("right");
  await expect(lines.first()).toContainText("country is AT");
  await drag();
  await expect(lines.first()).toContainText("country is DE");
  await page.getByRole("button", { name: "Reset order" }).click();
  await expect(lines.first()).toContainText("country is AT");
  await expect(page.getByRole("button", { name: "Save order" })).toBeHidden();

  await drag();
  await page.getByRole("button", { name: "Save order" }).click();
  await expect
    .poll(async () => JSON.stringify(await api.rules(flag, production)).match(/"(AT|CH|DE)"/g))
    .toEqual(['"DE"', '"AT"', '"CH"']);
});

test("the first order comes back after several moves, and updates leave an unsaved order alone", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  for (const [index, name] of ["AT", "CH", "DE"].entries()) {
    await api.addRule(flag, production, country(name, index + 1));
  }
  await signIn(page, server);
  await page.goto(flagAddress);
  await scriptsReady(page);
  const lines = page.locator(".rule");
  const first = lines.filter({ hasText: "country is AT" });
  const down = first.getByRole("button", { name: "Move down" });
  const save = page.getByRole("button", { name: "Save order" });
  const order = (...names: string[]) => names.map((name) => new RegExp(`country is ${name}`));
  await down.press("Enter");
  await expect(lines).toHaveText(order("CH", "AT", "DE"));
  await expect(down).toBeFocused();
  await down.press("Enter");
  await expect(lines).toHaveText(order("CH", "DE", "AT"));
  await page.getByRole("button", { name: "Reset order" }).click();
  await expect(lines).toHaveText(order("AT", "CH", "DE"));
  await expect(page.getByText("The original order is back.")).toBeAttached();

  await down.press("Enter");
  await expect(save).toBeVisible();
  await first.getByRole("button", { name: "Move up" }).press("Enter");
  await expect(save).toBeHidden();

  await down.press("Enter");
  await page.getByRole("heading", { level: 1 }).hover();
  await api.addRule(flag, production, country("FR", 4));
  await expect(page.locator(".bars")).toContainText("while you were editing");
  await expect(lines).toHaveText(order("CH", "AT", "DE"));
});

test("leaving an unsaved rule asks for confirmation", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=rule`);
  await ruleFormReady(page);
  let confirmations = 0;
  page.on("dialog", async (dialog) => {
    expect(dialog.type()).toBe("beforeunload");
    confirmations += 1;
    await (confirmations === 1 ? dialog.dismiss() : dialog.accept());
  });
  const attribute = page.getByLabel("Attribute", { exact: true });
  await attribute.pressSequentially("cou");
  const staging = page.getByRole("navigation", { name: "Environments" }).getByText("staging");
  await staging.click({ noWaitAfter: true });
  await expect.poll(() => confirmations).toBe(1);
  await expect(attribute).toHaveValue("cou");
  await staging.click();
  await expect(page).toHaveURL(/flags\/checkout_v2\?environment=[^&]*$/);
  expect(confirmations).toBe(2);

  // The form's own buttons do not ask for confirmation.
  await page.goto(`${flagAddress}?edit=rule`);
  await ruleFormReady(page);
  await attribute.pressSequentially("country");
  await page.getByRole("link", { name: "Cancel" }).click();
  await expect(page.locator("#rule-form")).toHaveCount(0);
  await page.goto(`${flagAddress}?edit=rule`);
  await ruleFormReady(page);
  await attribute.pressSequentially("country");
  await operand(page).pressSequentially("DE");
  await page.getByRole("button", { name: "Add rule" }).click();
  await expect(ruleLines(page).first()).toHaveText("ON when country is DE");
  expect(confirmations).toBe(2);
});

test("leaving a form in which nothing was typed does not ask", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  const { id } = await api.addRule(flag, production, country("DE", 1));
  await api.setRollout(flag, production, 10);
  await signIn(page, server);
  page.on("dialog", (question) => question.dismiss());
  for (const [edit, ready] of [
    ["rule", "#rule-form[data-ready]"],
    [`rule&rule=${id}`, "#rule-form[data-ready]"],
    ["recipe", "#recipe-form[data-ready]"],
    ["rollout", "#rollout-form .slider[data-ready=true]"],
  ] as const) {
    await page.goto(`${flagAddress}?edit=${edit}`);
    await expect(page.locator(ready)).toBeVisible();
    await page.getByRole("link", { name: "Audit", exact: true }).click();
    await expect(page).toHaveURL(/\/dashboard\/audit/);
  }

  // A sample that the browser restores was not typed, either.
  await page.evaluate(() => sessionStorage.setItem("pennon-sample", "ada"));
  await page.goto(`${flagAddress}?edit=rule`);
  for (const leaves of [1, 2]) {
    await ruleFormReady(page);
    await expect(page.getByLabel("Sample contexts")).toHaveValue("ada");
    await page.getByRole("link", { name: "Audit", exact: true }).click();
    await expect(page).toHaveURL(/\/dashboard\/audit/);
    if (leaves === 1) {
      await page.goBack();
    }
  }
});

test("a choice that the browser restores is described", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  const beta = {
    attribute: "beta",
    operator: "==",
    valueType: "boolean",
    valueBool: true,
  } as const;
  const conditions = [...country("DE", 1).conditions, beta];
  const { id } = await api.addRule(flag, production, { ...country("DE", 1), conditions });
  await signIn(page, server);
  page.on("dialog", (question) => question.accept());
  const sentence = page.locator("#rule-aloud");
  for (const [choose, text] of [
    [
      () => page.getByLabel("OFF", { exact: true }).check(),
      "OFF when country is DE and beta is true",
    ],
    [
      () => page.getByLabel("Comparison").first().selectOption("is not"),
      "ON when country is given but not DE and beta is true",
    ],
    [() => operand(page).last().selectOption("false"), "ON when country is DE and beta is false"],
  ] as const) {
    await page.goto(`${flagAddress}?edit=rule&rule=${id}`);
    await ruleFormReady(page);
    await choose();
    await expect(sentence).toHaveText(text);
    await page.goto("/dashboard/audit");
    await page.goBack();
    await ruleFormReady(page);
    await expect(sentence).toHaveText(text);
  }
});
