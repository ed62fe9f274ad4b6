import type { Locator, Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { type Api, evaluate, type Rule } from "../support/api.ts";
import { expect, signIn, test } from "../support/test.ts";

const address = "/dashboard/flags/checkout_v2";

/** ON for a country. */
function country(name: string, priority: number, value = true): Rule {
  return {
    priority,
    logic: "and",
    value,
    conditions: [{ attribute: "country", operator: "==", valueType: "string", valueString: name }],
  };
}

/** Two environments and a flag that is on in both of them. */
async function shop(api: Api) {
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout", "Checkout in one page.");
  await api.switch(flag, staging, true);
  await api.switch(flag, production, true);
  return { staging, production, flag };
}

/** What the page says first of the flag in an environment. */
function standing(page: Page): Locator {
  return page.locator("#standing");
}

/** Goes on by the keyboard until something has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) {
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`The keyboard does not lead to ${target}`);
}

/** The field for a condition's value: the one for values of its type. */
function operand(within: Page | Locator): Locator {
  return within.locator("[name=operand]:enabled");
}

/** Waits until the scripts of the form are there. */
async function alive(page: Page): Promise<void> {
  await expect(page.locator("#rule-form[data-ready]")).toBeVisible();
}

/** The lines of the list, as one reads them. */
function steps(page: Page): Locator {
  return page.locator("#rules .step-text");
}

test("the list leads to a flag's page, which opens in production", async ({
  page,
  server,
  api,
}) => {
  const { staging } = await shop(api);
  await signIn(page, server);
  await page.getByRole("link", { name: "New checkout" }).click();
  await expect(page).toHaveURL(address);
  await expect(page).toHaveTitle("checkout_v2 · Flags · Pennon");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New checkout");
  await expect(page.getByText("Checkout in one page.")).toBeVisible();
  await expect(standing(page)).toHaveText("On for everyone in production", { useInnerText: true });
  await expect(steps(page)).toHaveText(["everyone is ON"]);

  const tabs = page.getByRole("navigation", { name: "Environments" });
  await expect(tabs.getByRole("link", { name: "production" })).toHaveAttribute(
    "aria-current",
    "page",
  );
  await tabs.getByRole("link", { name: "staging" }).click();
  await expect(page).toHaveURL(`${address}?environment=${staging.id}`);
  await expect(standing(page)).toHaveText("On for everyone in staging", { useInnerText: true });
});

test("the list reads as the engine decides, down to everyone else", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await shop(api);
  await api.addRule(flag, production, country("AT", 20, false));
  await api.addRule(flag, production, country("DE", 10));
  await api.rollOut(flag, production, 25);
  await signIn(page, server);
  await page.goto(address);
  await expect(steps(page)).toHaveText([
    "ON when country is DE",
    "OFF when country is AT",
    "25 % of users are ON, by userId",
    "everyone else is OFF",
  ]);
});

test("name and description are edited in place", async ({ page, server, api }) => {
  await shop(api);
  await signIn(page, server);
  await page.goto(address);
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Name").fill("Checkout, second attempt");
  await page.getByLabel("Description").fill("One page.\nGoes in May.");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Checkout, second attempt");
  await expect(page.getByText("Goes in May.")).toBeVisible();
  await expect(page).toHaveURL(/flags\/checkout_v2\?environment=[^&]*$/);
});

test("a name that somebody else has changed is not overwritten unseen", async ({
  page,
  context,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 409/);
  await shop(api);
  await signIn(page, server);
  await page.goto(address);
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Name").fill("Mine");

  const other = await context.newPage();
  await other.goto(`${address}?edit=details`);
  await other.getByLabel("Name").fill("Theirs");
  await other.getByRole("button", { name: "Save" }).click();
  await expect(other.getByRole("heading", { level: 1 })).toHaveText("Theirs");

  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert")).toContainText("It is called Theirs now.");
  await expect(page.getByLabel("Name")).toHaveValue("Mine");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Mine");
});

test("the switch asks in production, with the effect, and not elsewhere", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, staging, production } = await shop(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.rollOut(flag, production, 25);
  await api.switch(flag, production, false);
  await signIn(page, server);
  await page.goto(address);
  const inProduction = page.getByRole("switch", { name: "New checkout in production" });
  await expect(page.locator(".copy[data-ready=true]").first()).toBeVisible();
  await inProduction.click();
  const dialog = page.getByRole("dialog", { name: "Turn on New checkout in production?" });
  await expect(dialog).toContainText(
    "ON when country is DE; otherwise 25 % of users are ON, by userId; everyone else is OFF.",
  );
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(inProduction).not.toBeChecked();
  expect((await evaluate(server, production.sdkKey, "checkout_v2")).reason).toBe("flag_disabled");

  await inProduction.click();
  await dialog.getByRole("button", { name: "Turn on in production" }).click();
  await expect(dialog).toBeHidden();
  await expect(inProduction).toBeChecked();
  await expect(standing(page)).toHaveText("On for some in production", { useInnerText: true });
  await expect
    .poll(() => evaluate(server, production.sdkKey, "checkout_v2", { country: "DE" }))
    .toEqual({ enabled: true, reason: "targeting_rule" });

  await page.goto(`${address}?environment=${staging.id}`);
  await expect(page.locator(".copy[data-ready=true]").first()).toBeVisible();
  await page.getByRole("switch", { name: "New checkout in staging" }).click();
  await expect(standing(page)).toHaveText("Off for everyone in staging", { useInnerText: true });
});

test("the switch is a plain form where there are no scripts, and asks by another", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  test.skip(javaScriptEnabled, "With scripts it asks first, which has a test of its own.");
  const { production } = await shop(api);
  await signIn(page, server);
  await page.goto(address);
  await page.getByRole("switch", { name: "New checkout in production" }).click();
  await page.getByRole("button", { name: "Turn off in production" }).click();
  await expect(standing(page)).toHaveText("Off for everyone in production", { useInnerText: true });
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });
});

test("archiving is refused where the flag is still on, with links; then it works, and back", async ({
  page,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 409/);
  const { flag, staging, production } = await shop(api);
  await signIn(page, server);
  await page.goto(address);
  await page.getByRole("button", { name: "Archive" }).click();
  const refusal = page.getByRole("alert");
  await expect(refusal).toContainText("Not archived.");
  await expect(refusal.getByRole("link")).toHaveText(["production", "staging"]);
  await refusal.getByRole("link", { name: "staging" }).click();
  await expect(page).toHaveURL(`${address}?environment=${staging.id}`);

  await api.switch(flag, staging, false);
  await api.switch(flag, production, false);
  await page.getByRole("button", { name: "Archive" }).click();
  await expect(page.getByText("It is OFF everywhere and cannot be changed.")).toBeVisible();
  await expect(page.getByRole("switch")).toBeDisabled();
  await expect(page.getByRole("link", { name: /Edit|Add|Change|Copy to/ })).toHaveCount(0);

  await page.getByRole("button", { name: "Restore" }).click();
  await expect(page.getByRole("button", { name: "Archive" })).toBeVisible();
  await expect(page.getByRole("switch")).toBeEnabled();
  await expect(page.getByRole("switch")).not.toBeChecked();
});

test("clients can be told to keep the flag for longer, or as long as usual", async ({
  page,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 400/);
  await shop(api);
  await signIn(page, server);
  await page.goto(address);
  await expect(page.getByText("60 s (default)")).toBeVisible();
  await page.getByRole("link", { name: "Change how long clients keep the flag" }).click();
  const seconds = page.getByLabel("Seconds that clients may keep the flag");
  await seconds.fill("half an hour");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(seconds).toHaveAttribute("aria-invalid", "true");
  await expect(seconds).toHaveValue("half an hour");
  await seconds.fill("1800");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("30 min")).toBeVisible();

  await page.getByRole("link", { name: "Change how long clients keep the flag" }).click();
  await seconds.fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("60 s (default)")).toBeVisible();
});

test("a rule and a rollout are made by the keyboard alone", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  const { production } = await shop(api);
  await signIn(page, server);
  await page.goto(address);
  await tabTo(page, page.getByRole("link", { name: "Add rule" }));
  await page.keyboard.press("Enter");
  const first = page.getByRole("group", { name: "Condition 1" });
  const second = page.getByRole("group", { name: "Condition 2" });
  await expect(first.getByLabel("Attribute")).toBeFocused();
  if (javaScriptEnabled) {
    await alive(page);
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
  // Enter in a field saves, as in any form.
  await page.keyboard.press("Enter");
  await expect(page.locator(".rule")).toHaveCount(1);
  await expect(steps(page)).toHaveText([
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
  await expect(page.locator("#rollout")).toContainText("10 % of users are ON, by userId");

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

test("values have types, and a sentence follows what is typed", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await shop(api);
  await signIn(page, server);
  await page.goto(`${address}?edit=rule`);
  await alive(page);
  const aloud = page.locator("#rule-aloud");
  await expect(aloud).toHaveText("Fill in the conditions to read the rule here.");
  const first = page.getByRole("group", { name: "Condition 1" });
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
  await second.getByLabel("Type of the value").selectOption("true or false");
  await page.getByLabel("How the conditions combine").selectOption("any of these holds");
  await page.getByRole("radio", { name: "OFF" }).check();
  await expect(aloud).toHaveText("OFF when age is at least 18 or beta is true");

  await page.getByRole("button", { name: "Add condition" }).click();
  await page.getByRole("button", { name: "Remove condition 1" }).click();
  await expect(page.getByRole("group", { name: "Condition 3" })).toHaveCount(0);
  await expect(first.getByLabel("Attribute")).toHaveValue("beta");
  await page.getByRole("button", { name: "Remove condition 2" }).click();
  await expect(page.getByRole("button", { name: /^Remove condition/ })).toHaveCount(0);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.locator(".rule")).toContainText("OFF when beta is true");
  expect(await api.rules(flag, production)).toMatchObject([
    { logic: "or", value: false, conditions: [{ valueType: "boolean", valueBool: true }] },
  ]);
});

test("what is wrong with a rule is told where it is, and nothing typed is lost", async ({
  page,
  server,
  api,
  complaints,
  javaScriptEnabled,
}) => {
  complaints.forgive(/status of 400/);
  await shop(api);
  await signIn(page, server);
  await page.goto(`${address}?edit=rule`);
  const first = page.getByRole("group", { name: "Condition 1" });
  await first.getByLabel("Attribute").fill("age");
  await first.getByLabel("Type of the value").selectOption("number");
  if (javaScriptEnabled) {
    await alive(page);
  }
  await operand(first).fill("eighteen");
  await page.getByRole("radio", { name: "OFF" }).check();
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(first).toContainText("The value must be a whole number.");
  await expect(first.getByLabel("Attribute")).toHaveValue("age");
  await expect(operand(first)).toHaveValue("eighteen");
  await expect(page.getByRole("radio", { name: "OFF" })).toBeChecked();
  await operand(first).fill("18");
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.locator(".rule")).toContainText("OFF when age is 18");
});

test("a rule is edited in place and deleted with its effect shown first", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await shop(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.addRule(flag, production, country("AT", 2));
  await signIn(page, server);
  await page.goto(address);
  const second = page.getByRole("group", { name: "ON when country is AT" });
  await second.getByRole("link", { name: "Edit" }).click();
  await operand(page).fill("CH");
  await page.getByRole("button", { name: "Save rule" }).last().click();
  await expect(page.locator(".rule")).toHaveCount(2);
  await expect(steps(page)).toContainText(["ON when country is CH"]);

  const first = page.getByRole("group", { name: "ON when country is DE" });
  await first.getByRole("link", { name: "Delete" }).click();
  await expect(page.getByText("Then: ON when country is CH; everyone else is ON.")).toBeVisible();
  await page.getByRole("link", { name: "Keep it" }).click();
  await first.getByRole("link", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete rule" }).click();
  await expect(page.locator(".rule")).toHaveCount(1);
  expect(await api.rules(flag, production)).toHaveLength(1);
});

test("slider and number go together, and words say what it means", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await shop(api);
  await signIn(page, server);
  await page.goto(`${address}?edit=rollout`);
  const slider = page.getByLabel("Percentage, as a slider");
  const number = page.getByLabel("Percentage", { exact: true });
  await expect(slider).toHaveAttribute("data-ready", "true");
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await expect(number).toHaveValue("26");
  await number.fill("40");
  await expect(slider).toHaveValue("40");
  await page.getByLabel("Tenants, by tenantId").check();
  await expect(page.getByText("40 % of tenants are ON, by tenantId")).toBeVisible();
  await expect(page.getByText("The first 40 are ON.")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save rollout" }).click();
  await expect(page.locator("#rollout")).toContainText("40 % of tenants are ON, by tenantId");
});

test("removing the rollout says that it turns everyone on", async ({ page, server, api }) => {
  const { flag, production } = await shop(api);
  await api.rollOut(flag, production, 5);
  await signIn(page, server);
  await page.goto(address);
  await page.getByRole("group", { name: "Rollout" }).getByRole("link", { name: "Remove" }).click();
  await expect(page.getByText("Then: ON for everyone.")).toBeVisible();
  await page.getByRole("button", { name: "Remove rollout" }).click();
  await expect(page.getByRole("link", { name: "Add rollout" })).toBeVisible();
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toEqual({
    enabled: true,
    reason: "flag_enabled",
  });
});

test("rules are moved by buttons, which work without scripts", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  const { flag, production } = await shop(api);
  for (const [index, name] of ["AT", "CH", "DE"].entries()) {
    await api.addRule(flag, production, country(name, index + 1));
  }
  await signIn(page, server);
  await page.goto(address);
  const last = page.getByRole("group", { name: "ON when country is DE" });
  if (javaScriptEnabled) {
    await expect(page.locator("#rules[data-ready]")).toBeVisible();
  }
  for (const place of [1, 0]) {
    await last.getByRole("button", { name: "Move up" }).press("Enter");
    await expect(steps(page).nth(place)).toHaveText("ON when country is DE");
  }
  if (javaScriptEnabled) {
    await expect(page.getByText("Now rule 1 of 3.")).toBeAttached();
    await page.getByRole("button", { name: "Save order" }).click();
  }
  await expect(page.getByRole("button", { name: "Save order" })).toBeHidden();
  await expect
    .poll(async () => JSON.stringify(await api.rules(flag, production)).match(/"(AT|CH|DE)"/g))
    .toEqual(['"DE"', '"AT"', '"CH"']);
  await expect(steps(page)).toHaveText([
    "ON when country is DE",
    "ON when country is AT",
    "ON when country is CH",
    "everyone else is ON",
  ]);
});

test("rules are dragged to another place, and saved or put back as a whole", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, production } = await shop(api);
  for (const [index, name] of ["AT", "CH", "DE"].entries()) {
    await api.addRule(flag, production, country(name, index + 1));
  }
  await signIn(page, server);
  await page.goto(address);
  await expect(page.locator("#rules[data-ready]")).toBeVisible();
  const lines = page.locator(".rule");
  const drag = async () => {
    const handle = await lines.nth(2).locator(".handle").boundingBox();
    const goal = await lines.nth(0).boundingBox();
    if (handle === null || goal === null) {
      throw new Error("The rules are not there.");
    }
    await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
    await page.mouse.down();
    await page.mouse.move(handle.x, goal.y + goal.height * 1.4, { steps: 8 });
    await page.mouse.move(handle.x, goal.y + goal.height * 0.2, { steps: 8 });
    await page.mouse.up();
  };
  await drag();
  await expect(lines.first()).toContainText("country is DE");
  await page.getByRole("button", { name: "Put back" }).click();
  await expect(lines.first()).toContainText("country is AT");
  await expect(page.getByRole("button", { name: "Save order" })).toBeHidden();

  await drag();
  await page.getByRole("button", { name: "Save order" }).click();
  await expect
    .poll(async () => JSON.stringify(await api.rules(flag, production)).match(/"(AT|CH|DE)"/g))
    .toEqual(['"DE"', '"AT"', '"CH"']);
});

test("an order that somebody else has overtaken is not saved", async ({
  page,
  server,
  api,
  complaints,
  javaScriptEnabled,
}) => {
  complaints.forgive(/status of 409/);
  const { flag, production } = await shop(api);
  await api.addRule(flag, production, country("AT", 1));
  await api.addRule(flag, production, country("CH", 2));
  await signIn(page, server);
  await page.goto(address);
  if (javaScriptEnabled) {
    await expect(page.locator("#rules[data-ready]")).toBeVisible();
  }
  const up = page
    .getByRole("group", { name: "ON when country is CH" })
    .getByRole("button", { name: "Move up" });
  if (javaScriptEnabled) {
    await up.click();
    await api.addRule(flag, production, country("DE", 3));
    // The other rule does not undo what is not saved yet.
    await expect(page.locator(".bars")).toContainText("while you were editing");
    await expect(steps(page)).toHaveText([
      "ON when country is CH",
      "ON when country is AT",
      "everyone else is ON",
    ]);
    await page.getByRole("button", { name: "Save order" }).click();
  } else {
    await api.addRule(flag, production, country("DE", 3));
    await up.click();
  }
  await expect(page.getByRole("alert")).toContainText("Somebody else has changed this meanwhile");
  await expect(steps(page)).toContainText([
    "ON when country is AT",
    "ON when country is CH",
    "ON when country is DE",
  ]);
});

test("whom a flag is tried for goes along to its other environments", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { staging } = await shop(api);
  await signIn(page, server);
  // Right after a change the page would be asked for once more, with the case in its links.
  await page.waitForTimeout(2_000);
  await page.goto(address);
  await expect(page.getByText("Server and this browser agree.")).toBeVisible();
  await page.getByLabel("userId").fill("ada");
  await expect.poll(() => new URL(page.url()).searchParams.get("context")).toContain("ada");
  await page.getByRole("link", { name: /^staging/ }).click();
  await expect(page).toHaveURL(new RegExp(`environment=${staging.id}`));
  await expect(page.getByLabel("userId")).toHaveValue("ada");
});

test("two people at one rule: the second is told, keeps what was typed, and decides", async ({
  page,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 40[49]/);
  const { flag, production } = await shop(api);
  const rule = await api.addRule(flag, production, country("DE", 1));
  await signIn(page, server);
  await page.goto(`${address}?edit=rule&rule=${rule.id}`);
  const value = operand(page);
  await value.fill("CH");
  await api.replaceRule(rule, country("AT", 1));
  const save = page.getByRole("button", { name: "Save rule" }).last();
  await save.click();
  await expect(page.getByRole("alert")).toContainText(
    "The rule reads “ON when country is AT” now.",
  );
  await expect(value).toHaveValue("CH");
  expect(JSON.stringify(await api.rules(flag, production))).toContain('"AT"');
  await save.click();
  await expect(page.locator(".rule")).toContainText("ON when country is CH");

  await page.goto(`${address}?edit=rule&rule=${rule.id}`);
  await value.fill("FR");
  await api.deleteRule(rule);
  await save.click();
  await expect(page.getByRole("alert")).toContainText("The rule was deleted.");
  await expect(value).toHaveValue("FR");
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.locator(".rule")).toContainText("ON when country is FR");
});

test("two people add rules: the second sees the first one's before adding", async ({
  page,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 409/);
  const { flag, production } = await shop(api);
  await signIn(page, server);
  await page.goto(`${address}?edit=rule`);
  await page.getByLabel("Attribute").fill("country");
  await operand(page).fill("DE");
  await api.addRule(flag, production, country("AT", 1, false));
  const add = page.getByRole("button", { name: "Add rule", exact: true }).last();
  await add.click();
  await expect(page.getByRole("alert")).toContainText("Somebody else was faster.");
  await expect(page.locator(".rule").first()).toContainText("OFF when country is AT");
  await expect(operand(page)).toHaveValue("DE");
  await add.click();
  await expect(page.locator(".rule")).toHaveCount(2);
  await expect(steps(page).nth(1)).toHaveText("ON when country is DE");
});

test("two people at one rollout: the second is told and decides", async ({
  page,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 409/);
  const { flag, production } = await shop(api);
  await signIn(page, server);
  await page.goto(`${address}?edit=rollout`);
  const percentage = page.getByLabel("Percentage", { exact: true });
  await percentage.fill("50");
  await api.rollOut(flag, production, 5);
  await page.getByRole("button", { name: "Save rollout" }).click();
  await expect(page.getByRole("alert")).toContainText("5 % of users are ON, by userId now.");
  await expect(percentage).toHaveValue("50");
  await page.getByRole("button", { name: "Save rollout" }).click();
  await expect(page.locator("#rollout")).toContainText("50 % of users");
});

test("a session that ends in the middle of a form loses nothing", async ({
  page,
  context,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 401/);
  await shop(api);
  await signIn(page, server);
  await page.goto(`${address}?edit=rule`);
  await page.getByLabel("Attribute").fill("country");
  await operand(page).fill("DE");
  await context.clearCookies();
  await page.getByRole("button", { name: "Add rule", exact: true }).last().click();
  await expect(page.getByText("What you typed is kept")).toBeVisible();
  await signIn(page, server);
  await expect(page.locator(".rule")).toContainText("ON when country is DE");
});

test("a whole configuration is copied after its differences were shown", async ({
  page,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 409/);
  const { flag, staging, production } = await shop(api);
  await api.addRule(flag, staging, country("DE", 1));
  await api.rollOut(flag, staging, 25);
  await api.addRule(flag, production, country("AT", 1));
  await api.switch(flag, production, false);
  await signIn(page, server);
  await page.goto(`${address}?environment=${staging.id}`);
  await page.getByRole("link", { name: "Copy to…" }).click();
  await page.getByLabel("To which environment").selectOption("production");
  await page.getByRole("button", { name: "Show what changes" }).click();
  const differences = page.locator(".differences li");
  await expect(differences).toHaveText([
    /Switch changed\s*OFF\s*ON/,
    /Rule changed\s*ON when country is AT\s*ON when country is DE/,
    /Rollout added\s*25 % of users are ON, by userId/,
  ]);

  // Somebody is faster, so what would change is another thing.
  await api.switch(flag, production, true);
  await page.getByRole("button", { name: "Copy to production" }).click();
  await expect(page.getByRole("alert")).toContainText("Nothing was copied.");
  await expect(differences).toHaveCount(2);
  await page.getByRole("button", { name: "Copy to production" }).click();
  await expect(page).toHaveURL(`${address}?environment=${production.id}`);
  await expect(steps(page)).toHaveText([
    "ON when country is DE",
    "25 % of users are ON, by userId",
    "everyone else is OFF",
  ]);

  await page.goto(`${address}?environment=${staging.id}&edit=copy&to=${production.id}`);
  await expect(page.getByText("nothing would change")).toBeVisible();
});

test("a viewer sees everything and can change nothing", async ({
  page,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 403/);
  const { flag, production } = await shop(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.rollOut(flag, production, 25);
  await signIn(page, await api.createUser("vera@example.com", "viewer"));
  await page.goto(`${address}?edit=rollout`);
  await expect(steps(page)).toHaveText([
    "ON when country is DE",
    "25 % of users are ON, by userId",
    "everyone else is OFF",
  ]);
  await expect(page.getByRole("switch")).toBeDisabled();
  const main = page.getByRole("main");
  await expect(main.getByRole("button", { name: /Archive|Save|Move|Delete/ })).toHaveCount(0);
  await expect(
    main.getByRole("link", { name: /Edit|Add|Change|Copy to|Delete|Remove/ }),
  ).toHaveCount(0);

  // What the page does not offer, the server does not take either.
  const refused = await page.request.post(address, {
    headers: { origin: server.url },
    form: {
      do: "rollout",
      flag: flag.id,
      environment: production.id,
      revision: "1",
      percentage: "100",
      strategy: "per_user",
    },
  });
  expect(refused.status()).toBe(403);
  expect(await refused.text()).toContain("Your role does not allow this.");
  expect((await evaluate(server, production.sdkKey, "checkout_v2")).reason).toBe("rollout");
});

test("hostile text stays text, everywhere on the page", async ({ page, server, api }) => {
  const hostile = `</textarea><script>document.title = "taken"</script><img src=x onerror=alert(1)>`;
  const staging = await api.createEnvironment("<b>shop</b>", `<i>prod</i>`);
  await api.createEnvironment("<b>shop</b>", "other");
  const flag = await api.createFlag("checkout_v2", `<u>${hostile.slice(0, 100)}`, hostile);
  const rule = await api.addRule(flag, staging, {
    priority: 1,
    logic: "and",
    value: true,
    conditions: [
      { attribute: hostile, operator: "==", valueType: "string", valueString: `"${hostile}` },
    ],
  });
  await signIn(page, server);
  for (const query of ["", `&edit=rule&rule=${rule.id}`, "&edit=details", "&edit=copy"]) {
    await page.goto(`${address}?environment=${staging.id}${query}`);
    await expect(page).toHaveTitle("checkout_v2 · Flags · Pennon");
    await expect(page.locator("main img, main i, main u, main script:not([type])")).toHaveCount(0);
  }
  await page.goto(`${address}?environment=${staging.id}&edit=details`);
  await expect(page.getByLabel("Description")).toHaveValue(hostile);
  await page.goto(`${address}?environment=${staging.id}&edit=rule&rule=${rule.id}`);
  await expect(page.getByLabel("Attribute")).toHaveValue(hostile);
  await expect(operand(page)).toHaveValue(`"${hostile}`);
});

test("forty environments with long names find their place", async ({ page, server, api }) => {
  test.slow();
  const name = (index: number) =>
    `${"a very long name for an environment, by any measure ".padEnd(60, "x")} ${index}`;
  for (let index = 0; index < 40; index++) {
    await api.createEnvironment(`Product ${index % 3}`, name(index).slice(-64));
  }
  await api.createFlag("checkout_v2", "New checkout ".repeat(15).trim());
  await signIn(page, server);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(address);
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await width()).toBeLessThanOrEqual(390);
  const environments = page.getByRole("navigation", { name: "Environments" });
  await environments.getByText("1 of 40").click();
  await expect(environments.getByRole("link")).toHaveCount(40);
  expect(await width()).toBeLessThanOrEqual(390);
  await environments.getByRole("link").nth(30).click();
  await expect(page).toHaveURL(/environment=/);
});

test("a key or an environment that does not exist is not found", async ({
  page,
  server,
  api,
  complaints,
}) => {
  complaints.forgive(/status of 404/);
  await shop(api);
  await signIn(page, server);
  for (const nowhere of [
    "/dashboard/flags/nothing",
    `${address}?environment=01a1fa8d-1ad7-7000-be8e-25c8e4232ff5`,
  ]) {
    const answer = await page.goto(nowhere);
    expect(answer?.status()).toBe(404);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not found");
  }
});

test("a flag whose key is a word of the address has its page too", async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new", "Novelties");
  await signIn(page, server);
  await page.goto("/dashboard/flags");
  await page.getByRole("link", { name: "Novelties" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Novelties");
});
