import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import type { Environment } from "../support/api.ts";
import {
  country,
  createCheckoutFlag,
  flagAddress,
  operand,
  ruleLines,
} from "../support/flag-page.ts";
import { hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

/** Presses the button in the message about the last change. */
async function undo(page: Page): Promise<void> {
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
}

/** Deletes the only rule of the flag on its page. */
async function deleteRule(page: Page): Promise<void> {
  await page.goto(flagAddress);
  await page.getByRole("link", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete rule" }).click();
  await expect(ruleLines(page)).toHaveText(["everyone is ON"]);
}

/** The changes that the page of a flag offers, each with the message about it. */
const changes: readonly {
  name: string;
  message: string;
  make: (page: Page, staging: Environment) => Promise<void>;
}[] = [
  {
    name: "a new rule",
    message: "Added a rule to checkout_v2 in production",
    make: async (page) => {
      await page.goto(`${flagAddress}?edit=rule`);
      const form = page.locator("#rule-form");
      await form.getByLabel("Attribute").fill("plan");
      await operand(form).fill("pro");
      await form.getByRole("button", { name: "Add rule" }).last().click();
    },
  },
  {
    name: "a deleted rule",
    message: "Deleted a rule of checkout_v2 in production: it was ON when country is DE.",
    make: async (page) => {
      await page.goto(flagAddress);
      await page.getByRole("link", { name: "Delete" }).first().click();
      await page.getByRole("button", { name: "Delete rule" }).click();
    },
  },
  {
    name: "an audience",
    message: "Made 2 changes to checkout_v2 in production.",
    make: async (page) => {
      await page.goto(`${flagAddress}?edit=recipe`);
      await page.getByLabel("A percentage of users where …").check();
      await page.getByLabel("Percentage", { exact: true }).fill("10");
      await page.getByLabel("Attribute").fill("plan");
      await operand(page.locator("#recipe-form")).fill("pro");
      await page.getByRole("button", { name: "Save", exact: true }).last().click();
    },
  },
  {
    name: "a rollout",
    message: "Changed the rollout of checkout_v2 from 25% to 60% in production.",
    make: async (page) => {
      await page.goto(`${flagAddress}?edit=rollout`);
      await page.getByLabel("Percentage", { exact: true }).fill("60");
      await page.getByRole("button", { name: "Save rollout" }).click();
    },
  },
  {
    name: "a removed rollout",
    message: "Removed the rollout of checkout_v2 in production",
    make: async (page) => {
      await page.goto(`${flagAddress}?edit=remove-rollout`);
      await page.getByRole("button", { name: "Remove rollout" }).click();
    },
  },
  {
    name: "the order of rules",
    message: "Made 2 changes to checkout_v2 in production.",
    make: async (page) => {
      await page.goto(flagAddress);
      await page.getByRole("button", { name: "Move up" }).last().click();
      const save = page.getByRole("button", { name: "Save order" });
      if (await save.isVisible()) {
        await save.click();
      }
    },
  },
  {
    name: "a copy",
    message: "changes to checkout_v2 in production.",
    make: async (page, staging) => {
      await page.goto(`${flagAddress}?environment=${staging.id}&edit=copy`);
      await page.getByLabel("Target environment").selectOption("production");
      await page.getByRole("button", { name: "Preview changes" }).click();
      await page.getByRole("button", { name: "Copy to production" }).click();
    },
  },
  {
    name: "a TTL",
    message: "Changed the TTL of checkout_v2 in production",
    make: async (page) => {
      await page.goto(`${flagAddress}?edit=ttl`);
      await page.getByLabel("TTL (time to live) in seconds").fill("30");
      await page.getByRole("button", { name: "Save" }).click();
    },
  },
];

for (const { name, message, make } of changes) {
  test(`${name} can be undone from the message about it`, async ({ page, server, api }) => {
    const { flag, staging, production } = await createCheckoutFlag(api);
    await api.addRule(flag, production, country("DE", 1));
    await api.addRule(flag, production, country("AT", 2));
    await api.setRollout(flag, production, 25);
    const before = await api.configuration(flag, production);
    await signIn(page, server);
    await make(page, staging);
    await expect(page.locator(".toast")).toContainText(message);
    expect(await api.configuration(flag, production)).not.toEqual(before);
    const shown = page.url().replace(/#.*/, "");
    await undo(page);
    await expect(page.locator(".toast")).toBeVisible();
    expect(await api.configuration(flag, production)).toEqual(before);
    expect(page.url()).toBe(shown);
  });
}

test("the message follows to other pages, and undoing returns to the page that is open", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await signIn(page, server);
  await deleteRule(page);
  await page.goto("/dashboard/environments");
  await undo(page);
  await expect(page).toHaveURL("/dashboard/environments");
  await expect(page.locator(".toast")).toContainText("Added a rule to checkout_v2 in production");
  await page.goto(flagAddress);
  await expect(ruleLines(page)).toHaveText(["ON when country is DE", "everyone else is ON"]);
});

test("a change of several flags and a revert can be undone, too", async ({ page, server, api }) => {
  await createCheckoutFlag(api);
  await api.createFlag("search", "Fast search");
  await signIn(page, server);
  await page.goto("/dashboard/flags");
  await page.getByLabel("Select Fast search").check();
  await page.getByLabel("Select New checkout").check();
  await page
    .getByRole("form", { name: "Selected flags" })
    .getByRole("button", { name: "Tag" })
    .click();
  await page.getByLabel("Tags to add").fill("q3");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByRole("button", { name: "Tag 2 flags" }).click();
  await expect(page.locator(".flag-tags")).toHaveCount(2);
  await undo(page);
  await expect(page.locator(".flag-tags")).toHaveCount(0);
  await page.goto("/dashboard/audit");
  await page.getByRole("link", { name: "Revert" }).first().click();
  await page.getByRole("button", { name: "Revert", exact: true }).click();
  await expect(page.locator(".toast")).toBeVisible();
  await page.goto("/dashboard/flags");
  await expect(page.locator(".flag-tags")).toHaveCount(2);
  await undo(page);
  await expect(page.locator(".flag-tags")).toHaveCount(0);
});

test("the order of environments and the role of a user can be undone, too", async ({
  page,
  server,
  api,
}) => {
  for (const name of ["demo", "staging"]) {
    await api.createEnvironment("Web shop", name);
  }
  const ben = await api.createUser("ben@example.com", "viewer");
  await signIn(page, server);
  await page.goto("/dashboard/environments");
  const names = page.getByRole("table", { name: "Active environments" }).locator("tbody a");
  await expect(names).toHaveText(["demo", "staging"]);
  await page.getByRole("button", { name: "Move staging up" }).click();
  await expect(names).toHaveText(["staging", "demo"]);
  await expect(page.locator(".toast")).toContainText(
    "Moved 2 environments in the order of environments.",
  );
  await undo(page);
  await expect(names).toHaveText(["demo", "staging"]);

  await page.goto("/dashboard/people");
  const row = page.getByRole("row", { name: ben.email });
  await row.getByRole("combobox").selectOption("editor");
  await row.getByRole("button", { name: "Change role" }).click();
  await expect(page.locator(".toast")).toContainText(`Made ${ben.email} an editor.`);
  await undo(page);
  await expect(row.getByRole("combobox")).toHaveValue("viewer");
  await expect(page.locator(".toast")).toContainText(`Made ${ben.email} a viewer.`);

  await page.goto(`/dashboard/people/${ben.id}`);
  await page.getByLabel("Where").selectOption("Web shop / staging");
  await page.getByLabel("Role", { exact: true }).selectOption("admin");
  await page.getByRole("button", { name: "Add role" }).click();
  await expect(page.locator(".toast")).toContainText(`Changed the roles of ${ben.email}`);
  await undo(page);
  await expect(page.getByText("the same role everywhere")).toBeVisible();
});

test("if somebody else has changed the rule since, undoing asks first", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await createCheckoutFlag(api);
  const rule = await api.addRule(flag, production, country("DE", 1));
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=rule&rule=${rule.id}`);
  await operand(page.locator("#rule-form")).fill("AT");
  await page.getByRole("button", { name: "Save rule" }).last().click();
  await expect(page.locator(".toast")).toBeVisible();
  await api.replaceRule(rule, country("CH", 1));
  await undo(page);
  await expect(page.getByText("It has been changed again since.")).toBeVisible();
  await page.goto(flagAddress);
  await expect(ruleLines(page).first()).toHaveText("ON when country is CH");
});

test("a protected environment asks before a change is undone", async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await signIn(page, server);
  await deleteRule(page);
  await api.protect(production);
  await undo(page);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "Undo your change in production?",
  );
  await page.getByRole("button", { name: "Undo your change" }).click();
  await expect(page.locator(".toast")).toBeVisible();
  await page.goto(flagAddress);
  await expect(ruleLines(page).first()).toHaveText("ON when country is DE");
});

test("canceling the undo of a protected environment leads back", async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await signIn(page, server);
  await deleteRule(page);
  await api.protect(production);
  await undo(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(ruleLines(page)).toHaveText(["everyone is ON"]);
  expect(await api.rules(flag, production)).toHaveLength(0);
});

test("Ctrl Z undoes the last change, but not while something is typed", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await signIn(page, server);
  await deleteRule(page);
  await expectAccessible(page);
  await page.locator(".toast").getByRole("button", { name: "Close" }).click();
  await expect(page.locator(".toast")).toHaveCount(0);
  let requests = 0;
  page.on("request", (request) => {
    requests += request.url().includes("/dashboard/undo") ? 1 : 0;
  });
  await page.goto("/dashboard/flags?q=check");
  await scriptsReady(page);
  // Elsewhere, this repeats what was undone.
  await page.keyboard.press("ControlOrMeta+Shift+z");
  await page.getByRole("searchbox").fill("checkout");
  await page.keyboard.press("ControlOrMeta+z");
  await expect(page.getByRole("searchbox")).toHaveValue("check");
  expect(await api.rules(flag, production)).toHaveLength(0);
  await page.getByRole("heading", { level: 1 }).click();
  await expect(page).toHaveURL("/dashboard/flags?q=check");
  // A second press, or a key that is held down, must not undo the undo.
  const release = await hold(page, "**/dashboard/undo*");
  await page.keyboard.press("ControlOrMeta+z");
  await page.keyboard.press("ControlOrMeta+z");
  await page.keyboard.down("ControlOrMeta");
  await page.keyboard.down("z");
  release();
  await expect(page.locator(".toast")).toContainText("Added a rule to checkout_v2 in production");
  await scriptsReady(page);
  await page.keyboard.down("z");
  await page.keyboard.up("z");
  await page.keyboard.up("ControlOrMeta");
  await expect(page).toHaveURL("/dashboard/flags?q=check");
  expect(await api.rules(flag, production)).toHaveLength(1);
  expect(requests).toBe(1);
});

test("Ctrl Z does not undo the last change while the order of rules is unsaved", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.addRule(flag, production, country("AT", 2));
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=ttl`);
  await page.getByLabel("TTL (time to live) in seconds").fill("30");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.locator(".toast")).toBeVisible();
  await scriptsReady(page);
  await page.getByRole("button", { name: "Move up" }).last().click();
  const questions: string[] = [];
  page.on("dialog", async (dialog) => {
    questions.push(dialog.type());
    await dialog.dismiss();
  });
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("ControlOrMeta+z");
  await page.getByRole("button", { name: "Save order" }).click();
  await expect(page.locator(".toast")).toContainText("Made 2 changes to checkout_v2");
  await expect(ruleLines(page).first()).toHaveText("ON when country is AT");
  expect(await api.configuration(flag, production)).toMatchObject({ ttlOverrideSeconds: 30 });
  expect(questions).toEqual([]);
});

test("every other form of a page asks before it discards unsaved input", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, production } = await createCheckoutFlag(api);
  await api.createEnvironment("Blog", "staging");
  await api.addRule(flag, production, country("DE", 1));
  await signIn(page, server);
  await deleteRule(page);
  await page.goto(`${flagAddress}?edit=details`);
  await scriptsReady(page);
  const description = page.getByLabel("Description");
  await description.click();
  await description.fill("Checkout in one step.");
  for (const leave of [
    () => undo(page),
    () => page.locator(".product-switcher select").selectOption("Blog"),
    () => page.getByRole("button", { name: "Sign out" }).click(),
  ]) {
    const asked = page.waitForEvent("dialog");
    const left = leave();
    const question = await asked;
    expect(question.type()).toBe("beforeunload");
    await question.dismiss();
    await left;
    await expect(description).toHaveValue("Checkout in one step.");
  }
  // Saving does not ask.
  page.on("dialog", (question) => question.dismiss());
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.locator(".flag-description")).toHaveText("Checkout in one step.");
});
