import { readFile } from "node:fs/promises";
import type { Locator, Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import { country } from "../support/flag-page.ts";
import { hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

function entries(page: Page): Locator {
  return page.locator(".timeline").getByRole("listitem");
}

/** Reverts the newest change, from the page that lists it first. */
async function revertNewest(page: Page): Promise<void> {
  await entries(page).first().getByRole("link", { name: "Revert" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Revert a change");
  await page.getByRole("button", { name: "Revert" }).click();
}

test("changes are described in sentences, with the previous values", async ({
  page,
  server,
  api,
}) => {
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.switch(flag, production, true);
  await api.addRule(flag, production, country("DE", 1));
  await api.setRollout(flag, production, 10);
  await api.setRollout(flag, production, 25);
  await signIn(page, server);
  await page.getByRole("link", { name: "Audit" }).click();

  const listed = entries(page);
  await expect(listed).toHaveCount(6);
  await expect(page.getByRole("heading", { level: 2 })).toHaveText([/^Today · /]);
  const who = server.email;
  await expect(listed.nth(0)).toContainText(
    `${who} set the rollout of checkout_v2 to 25% in production`,
  );
  await expect(listed.nth(0).locator("del")).toHaveText("10% of users are ON, by userId");
  await expect(listed.nth(0).locator("ins")).toHaveText("25% of users are ON, by userId");
  await expect(listed.nth(2)).toContainText(`${who} added a rule to checkout_v2 in production`);
  await expect(listed.nth(2).locator("ins").first()).toHaveText("ON when country is DE");
  await expect(listed.nth(3)).toContainText(`${who} turned checkout_v2 on in production`);
  await expect(listed.nth(4)).toContainText(`${who} created checkout_v2`);
  await expect(listed.nth(5)).toContainText(`${who} created the environment production`);

  await listed.nth(3).getByRole("link", { name: "production" }).click();
  await expect(page).toHaveURL(new RegExp(`/environments/${production.id}$`));
});

test("a filter is in the address, and the export contains the filtered entries", async ({
  page,
  server,
  api,
}) => {
  const production = await api.createEnvironment("Web shop", "production");
  const staging = await api.createEnvironment("Web shop", "staging");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.createFlag("dark_mode", "Dark mode");
  await api.switch(flag, production, true);
  await api.switch(flag, staging, true);
  await signIn(page, server);
  await page.goto("/dashboard/audit");
  await expect(entries(page)).toHaveCount(6);

  const today = new Date().toISOString().slice(0, 10);
  await page.getByLabel("Flag key").fill("checkout_v2");
  await page.getByLabel("Environment").fill("staging");
  await page.getByLabel("From").fill(`${today}T00:00`);
  await page.getByLabel("To", { exact: true }).fill(`${today}T23:59`);
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(entries(page)).toHaveCount(1);
  const shared = page.url();
  await page.goto("/dashboard/flags");
  await page.goto(shared);
  await expect(page.getByLabel("Flag key")).toHaveValue("checkout_v2");
  await expect(page.getByLabel("From")).toHaveValue(`${today}T00:00`);
  await expect(entries(page)).toHaveText([/turned checkout_v2 on in staging/]);

  const started = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export as JSON" }).click();
  const download = await started;
  expect(download.suggestedFilename()).toBe("pennon-audit.json");
  const exported = JSON.parse(await readFile(await download.path(), "utf8")) as object[];
  expect(exported).toEqual([
    expect.objectContaining({
      action: "FLAG_ENVIRONMENT_UPDATED",
      flagKey: "checkout_v2",
      environment: "staging",
      newValue: expect.objectContaining({ isEnabled: true }),
    }),
  ]);

  await page.goto("/dashboard/audit?flagKey=nothing");
  await expect(page.getByText("No changes match these filters")).toBeVisible();
});

test("an API address redirects a browser to the page with the same content", async ({
  page,
  server,
  api,
}) => {
  await api.createFlag("checkout_v2", "New checkout");
  await api.createFlag("dark_mode", "Dark mode");
  await page.goto("/audit?flagKey=dark_mode");
  await signIn(page, server);
  await expect(entries(page)).toHaveText([/created dark_mode/]);
});

test("a long log has pages, and the export contains all entries", async ({ page, server, api }) => {
  test.slow();
  for (let count = 0; count < 105; count++) {
    await api.createFlag(`flag_${count}`, `Flag ${count}`);
  }
  await signIn(page, server);
  await page.goto("/dashboard/audit");
  await expect(entries(page)).toHaveCount(50);
  await page.getByRole("link", { name: "Next" }).click();
  await page.getByRole("link", { name: "Next" }).click();
  await expect(entries(page)).toHaveCount(5);
  await expect(entries(page).last()).toContainText("created flag_0");

  const started = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export as JSON" }).click();
  const exported = JSON.parse(await readFile(await (await started).path(), "utf8"));
  expect(exported).toHaveLength(105);
});

test("reverting a switch makes a new change", async ({ page, server, api }) => {
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.switch(flag, production, true);
  await signIn(page, server);
  await page.goto("/dashboard/flags/checkout_v2/history");
  await entries(page).first().getByRole("link", { name: "Revert" }).click();

  const will = page.getByRole("region", { name: "What will change" });
  await expect(will.locator("del")).toHaveText("ON for everyone.");
  await expect(will.locator("ins")).toHaveText("OFF for everyone.");
  await page.getByRole("button", { name: "Revert" }).click();

  await expect(page).toHaveURL(/\/flags\/checkout_v2\/history$/);
  await expect(entries(page)).toHaveCount(3);
  await expect(entries(page).first()).toContainText("turned checkout_v2 off in production");
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });

  await entries(page).nth(1).getByRole("link", { name: "Revert" }).click();
  await expect(page.getByText("This change is already reverted.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Revert" })).toHaveCount(0);
});

test("the changes of one action form a group, and are reverted together", async ({
  page,
  server,
  api,
}) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  await api.createEnvironment("Payments", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.addRule(flag, production, country("DE", 1));
  await api.setRollout(flag, production, 10);
  await api.switch(flag, production, true);
  await api.switch(flag, staging, true);
  await signIn(page, server);
  await page.goto(`/dashboard/flags/checkout_v2?environment=${staging.id}&edit=copy`);
  await page.getByLabel("Target environment").selectOption("Web shop / production");
  await page.getByRole("button", { name: "Preview changes" }).click();
  await page.getByRole("button", { name: "Copy to Web shop / production" }).click();
  expect((await evaluate(server, production.sdkKey, "checkout_v2")).reason).toBe("flag_enabled");

  // The flag is on for everyone now. The revert turns it on for fewer users.
  await page.goto("/dashboard/flags/checkout_v2/history");
  const newest = page.locator(".timeline > li").first();
  await expect(newest).toContainText("changed checkout_v2 in one action:");
  await expect(newest.getByRole("listitem")).toHaveText([
    /removed the rollout of checkout_v2 in Web shop \/ production/,
    /deleted a rule of checkout_v2 in Web shop \/ production/,
  ]);
  await newest.getByRole("link", { name: "Revert" }).click();
  const will = page.getByRole("region", { name: "What will change" });
  await expect(will.locator("del")).toHaveText("ON for everyone.");
  await expect(will.locator("ins")).toHaveText(
    "ON when country is DE; otherwise 10% of everyone left is ON, by userId; everyone else is OFF.",
  );
  await expect(will.getByText("Some users who now get OFF will get ON.")).toHaveCount(0);
  await page.getByRole("button", { name: "Revert in Web shop / production" }).click();
  await expect(page).toHaveURL(/\/flags\/checkout_v2\/history$/);
  const context = { userId: "ada", country: "DE" };
  expect(await evaluate(server, production.sdkKey, "checkout_v2", context)).toMatchObject({
    reason: "targeting_rule",
  });
  expect((await evaluate(server, production.sdkKey, "checkout_v2")).reason).toBe("rollout");

  // Reverting this change turns the flag on for many users who get OFF now.
  await newest.getByRole("link", { name: "Revert" }).click();
  await expect(will.getByText("Some users who now get OFF will get ON.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Revert in Web shop / production" })).toHaveClass(
    /danger/,
  );
});

test("the effect of a revert is shown for a sample of contexts", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.switch(flag, production, true);
  await api.setRollout(flag, production, 80);
  await api.setRollout(flag, production, 64);
  await signIn(page, server);
  await page.goto("/dashboard/flags/checkout_v2/history");
  const hydrate = await hold(page, "**/*.wasm");
  await entries(page).first().getByRole("link", { name: "Revert" }).click();
  await page.getByText("Try it on sample contexts").click();
  const sample = page.getByLabel("Sample contexts");
  // The bucket of "ada" is 63, and that of "linus" is 72.
  await sample.fill("ada\nlinus");
  hydrate();
  // Text that was typed before the island had loaded counts, too.
  const result = page.locator(".effect-told");
  await expect(result).toHaveText("2 of 2 get ON: 1 turn on, 0 turn off, 1 stay the same.");
  await expect(page.locator(".effect-named li")).toHaveText(['OFF → ON {"userId":"linus"}']);
  await expect(sample).toHaveValue("ada\nlinus");
  await expectAccessible(page);
  const openSample = async () => {
    await page.reload({ waitUntil: "commit" });
    await page.getByText("Try it on sample contexts").click();
  };
  await openSample();
  await expect(sample).toHaveValue("ada\nlinus");
  await sample.fill("linus");
  await expect(result).toHaveText("1 of 1 get ON: 1 turn on, 0 turn off, 0 stay the same.");
  await openSample();
  await expect(sample).toHaveValue("linus");
  const chooseFile = (text: string) =>
    page
      .getByLabel("Load sample from a file")
      .setInputFiles({ name: "sample.txt", mimeType: "text/plain", buffer: Buffer.from(text) });
  await chooseFile("ada\ngrace\n");
  await expect(sample).toHaveValue("ada\ngrace\n");
  const hydrateAgain = await hold(page, "**/*.wasm");
  await openSample();
  await chooseFile("ada\nmax\n");
  hydrateAgain();
  await expect(sample).toHaveValue("ada\nmax\n");
  await openSample();
  await expect(sample).toHaveValue("ada\nmax\n");
  await sample.fill(" ");
  await expect(result).toBeHidden();
});

test("a revert restores the order of rules", async ({ page, server, api, javaScriptEnabled }) => {
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  for (const [index, value] of [true, false].entries()) {
    await api.addRule(flag, production, country("DE", index + 1, value));
  }
  await api.switch(flag, production, true);
  await signIn(page, server);
  await page.goto(`/dashboard/flags/checkout_v2?environment=${production.id}`);
  if (javaScriptEnabled) {
    await scriptsReady(page);
  }
  await page.getByRole("button", { name: "Move down" }).first().click();
  if (javaScriptEnabled) {
    await page.getByRole("button", { name: "Save order" }).click();
  }
  const inGermany = async () => {
    return evaluate(server, production.sdkKey, "checkout_v2", { country: "DE" });
  };
  await expect.poll(inGermany).toEqual({ enabled: false, reason: "targeting_rule" });
  await page.goto("/dashboard/flags/checkout_v2/history");
  await revertNewest(page);
  await expect(entries(page).first()).toContainText("in one action");
  expect(await inGermany()).toEqual({ enabled: true, reason: "targeting_rule" });
});

test("reverts restore and remove rules, rollouts and archived flags", async ({
  page,
  server,
  api,
}) => {
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.addRule(flag, production, country("DE", 4));
  await signIn(page, server);
  const history = "/dashboard/flags/checkout_v2/history";
  await page.goto(history);
  await revertNewest(page);
  await expect(entries(page).first()).toContainText("deleted a rule of checkout_v2");
  await revertNewest(page);
  await expect(entries(page).first()).toContainText("added a rule to checkout_v2");
  await expect(entries(page).first().locator("ins")).toHaveText(["ON when country is DE", "4"]);

  await api.setRollout(flag, production, 10);
  await api.setRollout(flag, production, 25);
  await page.goto(history);
  await revertNewest(page);
  await expect(entries(page).first()).toContainText("to 10% in production");
  await entries(page).nth(2).getByRole("link", { name: "Revert" }).click();
  await page.getByRole("button", { name: "Revert" }).click();
  await expect(entries(page).first()).toContainText("removed the rollout of checkout_v2");

  await api.archive(flag);
  await page.goto(history);
  await entries(page).nth(1).getByRole("link", { name: "Revert" }).click();
  await expect(page.getByText("The flag is archived; restore it first.")).toBeVisible();
  await page.goto(history);
  await revertNewest(page);
  await expect(entries(page).first()).toContainText("restored checkout_v2");
});

test("changes since the preview are not overwritten", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.setRollout(flag, production, 10);
  await api.setRollout(flag, production, 25);
  await signIn(page, server);
  await page.goto("/dashboard/flags/checkout_v2/history");
  await entries(page).first().getByRole("link", { name: "Revert" }).click();
  await expect(page.getByRole("button", { name: "Revert" })).toBeVisible();
  await api.setRollout(flag, production, 70);
  await page.getByRole("button", { name: "Revert" }).click();

  await expect(page.getByRole("alert")).toContainText("Somebody else changed this first");
  const will = page.getByRole("region", { name: "What will change" });
  await expect(will).toContainText("It has been changed again since.");
  await expect(will.locator("del")).toContainText("70%");
  await expect(will.locator("ins")).toContainText("10%");
  await page.getByRole("button", { name: "Revert" }).click();
  await expect(entries(page).first()).toContainText("to 10% in production");
});

test("a later change that the revert keeps causes no warning", async ({ page, server, api }) => {
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.switch(flag, production, true);
  await api.setTtl(flag, production, 30);
  await signIn(page, server);
  await page.goto("/dashboard/flags/checkout_v2/history");
  await entries(page).nth(1).getByRole("link", { name: "Revert" }).click();
  const will = page.getByRole("region", { name: "What will change" });
  await expect(will.locator("ins")).toHaveText("OFF for everyone.");
  await expect(will.getByText("It has been changed again since.")).toHaveCount(0);
  await page.getByRole("button", { name: "Revert in production" }).click();
  await entries(page).nth(1).getByRole("link", { name: "Revert" }).click();
  await expect(will.locator("del")).toHaveText("30 s");
});

test("the creation of a flag that is on cannot be reverted, and the page says so", async ({
  page,
  server,
  api,
}) => {
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.switch(flag, production, true);
  await signIn(page, server);
  await page.goto("/dashboard/flags/checkout_v2/history");
  await entries(page).last().getByRole("link", { name: "Revert" }).click();
  await expect(page.getByRole("main")).toContainText("still enabled in");
  await expect(page.getByRole("button", { name: "Revert" })).toHaveCount(0);
});

test("a revert restores an environment's name, and works after a key rotation", async ({
  page,
  server,
  api,
}) => {
  const environment = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.switch(flag, environment, true);
  await signIn(page, server);
  await page.goto(`/dashboard/environments/${environment.id}`);
  await page.getByLabel("Name", { exact: true }).fill("live");
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("live");
  await page.goto("/dashboard/audit");
  await expect(entries(page).first()).toContainText("renamed the environment production to live");
  await revertNewest(page);
  await expect(entries(page).first()).toContainText("renamed the environment live to production");

  await page.goto(`/dashboard/environments/${environment.id}`);
  await page.getByText("Rotate key…").click();
  await page.getByLabel("Environment name").first().fill("production");
  await page.getByRole("button", { name: "Rotate key" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("production has a new key");
  await page.getByRole("link", { name: "I have stored the key" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Active");
  await page.goto("/dashboard/audit");
  await expect(entries(page).first()).toContainText("rotated the SDK key of production");
  await expect(entries(page).first().getByRole("link", { name: "Revert" })).toHaveCount(0);
  await page.goto("/dashboard/flags/checkout_v2/history");
  await revertNewest(page);
  await expect(entries(page).first()).toContainText("turned checkout_v2 off in production");
});

test("entries about accounts are shown to admins on request only", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 403/);
  const viewer = await api.createUser("bob@example.com", "viewer");
  await api.createFlag("checkout_v2", "New checkout");
  await signIn(page, server);
  await page.goto("/dashboard/audit");
  await expect(entries(page)).toHaveCount(1);
  await page.getByLabel("Include account changes").check();
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(entries(page).nth(1)).toContainText("created the account bob@example.com");
  const withAccounts = page.url();

  await page.context().clearCookies();
  await page.goto(withAccounts);
  await signIn(page, viewer);
  await expect(entries(page)).toHaveText([/created checkout_v2/]);
  await expect(page.getByLabel("Include account changes")).toHaveCount(0);
  await expect(page.getByRole("link", { name: "Revert" })).toHaveCount(0);
  const refused = await page.request.get("/dashboard/audit/export?include=accounts");
  expect(refused.status()).toBe(403);
});
