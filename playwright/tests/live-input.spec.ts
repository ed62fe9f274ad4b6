import type { Page } from "@playwright/test";
import type { Api } from "../support/api.ts";
import {
  country,
  createCheckoutFlag,
  flagAddress,
  operand,
  ruleFormReady,
} from "../support/flag-page.ts";
import { hold } from "../support/hold.ts";
import type { Server } from "../support/server.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test.describe("a change by somebody else", { tag: "@scripts" }, () => {
  /** Opens the form of the only rule of a flag, and returns the rule. */
  async function openRule(page: Page, server: Server, api: Api): Promise<{ id: string }> {
    const { flag, production } = await createCheckoutFlag(api);
    const rule = await api.addRule(flag, production, country("DE", 1));
    await signIn(page, server);
    await page.goto(`${flagAddress}?edit=rule&rule=${rule.id}`);
    await ruleFormReady(page);
    return rule;
  }

  test("does not reload a page that is submitting a form", async ({
    page,
    context,
    server,
    api,
  }) => {
    await signIn(page, server);
    const other = await context.newPage();
    await other.goto("/dashboard/flags");
    await page.goto("/dashboard/environments/new");
    await Promise.all([page, other].map(scriptsReady));
    await page.getByLabel("Product").fill("Web shop");
    await page.getByLabel("Name").fill("staging");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(`${request.method()} ${request.resourceType()}`));
    const release = await hold(page, "**/dashboard/environments/new");
    const left = page.getByRole("button", { name: "Create environment" }).click();
    // A page that is rendered soon after a change may still request itself before the form is sent.
    await expect.poll(() => requests).toContain("POST document");
    await api.createFlag("dark_mode", "Dark mode");
    await expect(other.getByRole("row", { name: "Dark mode" })).toBeVisible();
    expect(requests.at(-1)).toBe("POST document");
    release();
    await left;
    await expect(page.getByRole("region", { name: "SDK key" })).toBeVisible();
  });

  test("moves the focus to the next row when a row leaves the list", async ({
    page,
    server,
    api,
  }) => {
    const staging = await api.createEnvironment("Web shop", "staging");
    for (const name of ["Ants", "Bees", "Cats"]) {
      await api.switch(await api.createFlag(name.toLowerCase(), name), staging, true);
    }
    await signIn(page, server);
    await page.goto("/dashboard/flags?is=on&sort=name");
    await scriptsReady(page);
    for (const [name, next] of [
      ["Bees", "Cats"],
      ["Cats", "Ants"],
    ] as const) {
      const flagSwitch = page.getByRole("switch", { name: `${name} in staging` });
      await flagSwitch.focus();
      await page.keyboard.press("Space");
      await expect(flagSwitch).toHaveCount(0);
      await expect(page.getByRole("link", { name: next })).toBeFocused();
    }
    await page.getByRole("switch", { name: "Ants in staging" }).focus();
    await page.keyboard.press("Space");
    await expect(page.getByRole("switch")).toHaveCount(0);
    await expect(page.getByRole("main")).toBeFocused();
  });

  test("does not move the focus", async ({ page, server, api }) => {
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("new_checkout", "New checkout");
    await signIn(page, server);
    await scriptsReady(page);
    const link = page.getByRole("switch", { name: "New checkout in staging" });
    await link.focus();
    await api.createFlag("dark_mode", "Dark mode");
    await expect(page.getByRole("row", { name: "Dark mode" })).toBeVisible();
    await expect(link).toBeFocused();
  });

  test("does not replace a field that is being edited, and shows a notice", async ({
    page,
    server,
    api,
    browserErrors,
  }) => {
    const ben = await api.createUser("ben@example.com", "viewer");
    const cleo = await api.createUser("cleo@example.com", "viewer");
    await signIn(page, server);
    await page.goto("/dashboard/people");
    await scriptsReady(page);
    const role = page.getByRole("row", { name: ben.email }).getByRole("combobox");
    await role.selectOption("editor");

    await api.setRole(cleo, "editor");
    const others = page.getByRole("row", { name: cleo.email }).getByRole("combobox");
    await expect(others).toHaveValue("editor");
    await expect(page.locator(".bars")).toBeEmpty();

    await api.setRole(ben, "admin");
    await expect(page.locator(".bars")).toContainText(
      `${server.email} changed an account while you were editing. What you typed is still here.`,
    );
    await expect(role).toHaveValue("editor");
    await page.getByRole("link", { name: "Reload to see the change" }).click();
    await expect(role).toHaveValue("admin");

    // An environment is another place for a role.
    await page.goto(`/dashboard/people/${ben.id}`);
    await scriptsReady(page);
    await expect(page.getByLabel("Where")).toHaveCount(0);
    await api.createEnvironment("Web shop", "staging");
    await page.getByLabel("Where").selectOption("Web shop / staging");
    browserErrors.ignore(/status of 404/);
    await api.deleteUser(ben);
    await expect(page.locator(".bars")).toContainText("deleted an account while you were editing");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(ben.email);
    await expect(page.getByText("Not found")).toHaveCount(0);
    await page.getByRole("link", { name: "Reload to see the change" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not found");
  });

  test("does not replace input after a link in its form has opened another tab", async ({
    page,
    context,
    server,
    api,
  }) => {
    await createCheckoutFlag(api);
    await signIn(page, server);
    await page.goto(`${flagAddress}?edit=ttl`);
    await scriptsReady(page);
    const ttl = page.getByLabel("TTL (time to live) in seconds");
    await ttl.fill("30");
    const opened = context.waitForEvent("page");
    await page.getByRole("link", { name: "Cancel" }).click({ modifiers: ["ControlOrMeta"] });
    await opened;
    await page.bringToFront();
    const asked = page.waitForEvent("dialog");
    const left = page.getByRole("button", { name: "Sign out" }).click();
    const question = await asked;
    expect(question.type()).toBe("beforeunload");
    await question.dismiss();
    await left;
    await expect(ttl).toHaveValue("30");
  });

  test("reaches a field in which nothing was typed once it loses the focus", async ({
    page,
    server,
    api,
  }) => {
    const ben = await api.createUser("ben@example.com", "viewer");
    const cleo = await api.createUser("cleo@example.com", "viewer");
    await signIn(page, server);
    await page.goto("/dashboard/people");
    await scriptsReady(page);
    const roleOf = (email: string) => page.getByRole("row", { name: email }).getByRole("combobox");
    await roleOf(ben.email).focus();
    await api.setRole(ben, "editor");
    await api.setRole(cleo, "editor");
    await expect(roleOf(cleo.email)).toHaveValue("editor");
    await expect(roleOf(ben.email)).toHaveValue("viewer");
    await roleOf(ben.email).blur();
    await expect(roleOf(ben.email)).toHaveValue("editor");
    await expect(page.locator(".bars")).toBeEmpty();
  });

  test("shows a notice even if it was made before the stream was open", async ({
    page,
    server,
    api,
  }) => {
    const ben = await api.createUser("ben@example.com", "viewer");
    await signIn(page, server);
    // Tests cannot delay the requests of a shared worker.
    await page.addInitScript("delete window.SharedWorker");
    const release = await hold(page, "**/dashboard/events");
    await page.goto("/dashboard/people");
    const role = page.getByRole("row", { name: ben.email }).getByRole("combobox");
    await role.selectOption("editor");
    const other = await page.context().newPage();
    await other.goto("/dashboard/help");
    const stream = await other.evaluateHandle(async () => {
      const source = new EventSource("/dashboard/events");
      const event = (name: string, part: string) =>
        new Promise<void>((resolve) => {
          source.addEventListener(name, ({ data }) => {
            if (data.includes(part)) {
              resolve();
            }
          });
        });
      const changed = event("change", "USER_UPDATED");
      await event("position", "");
      return { changed };
    });
    await api.setRole(ben, "admin");
    await stream.evaluate(({ changed }) => changed);
    release();
    await expect(page.locator(".bars")).toContainText(
      "This page changed while you were editing. What you typed is still here.",
    );
    await expect(role).toHaveValue("editor");
  });

  test("keeps rules movable", async ({ page, server, api }) => {
    const { flag, production } = await createCheckoutFlag(api);
    const first = await api.addRule(flag, production, country("DE", 1));
    await api.addRule(flag, production, country("CH", 2));
    await signIn(page, server);
    await page.goto(flagAddress);
    await scriptsReady(page);

    await api.replaceRule(first, country("AT", 1));
    const changed = page.getByRole("group", { name: "ON when country is AT" });
    await expect(changed).toBeVisible();
    await expect(page.locator("#rules .handle").first()).toBeVisible();
    await changed.getByRole("button", { name: "Move down" }).click();
    await expect(page.getByText("Now rule 2 of 2.")).toBeAttached();
    await expect(page.getByRole("button", { name: "Save order" })).toBeVisible();
  });

  test("neither ends a drag nor closes a part that was opened", async ({ page, server, api }) => {
    const { flag, production } = await createCheckoutFlag(api);
    await api.addRule(flag, production, country("AT", 1));
    await api.addRule(flag, production, country("CH", 2));
    await signIn(page, server);
    await page.goto(flagAddress);
    await scriptsReady(page);
    const rules = page.locator(".rule");
    await rules.nth(1).locator(".handle").hover();
    await page.mouse.down();
    await api.addRule(flag, production, country("DE", 3));
    await expect(rules).toHaveText([/is AT/, /is CH/, /is DE/]);
    const first = await rules.first().boundingBox();
    await page.mouse.move((first?.x ?? 0) + 20, (first?.y ?? 0) + 5, { steps: 8 });
    await page.mouse.up();
    await expect(rules).toHaveText([/is CH/, /is AT/, /is DE/]);
    await page.mouse.move(0, (first?.y ?? 0) + 200, { steps: 8 });
    await expect(rules).toHaveText([/is CH/, /is AT/, /is DE/]);

    await page.getByRole("button", { name: "Reset order" }).click();
    await page.goto(`/dashboard/environments/${production.id}`);
    await scriptsReady(page);
    await page.getByText("Rotate key…").click();
    const name = page.getByRole("group").getByLabel("Environment name");
    await expect(name.first()).toBeVisible();
    await api.renameEnvironment(production, "live shop");
    await expect(page.getByRole("heading", { level: 1 })).toContainText("live shop");
    await expect(name.first()).toBeVisible();
  });

  test("keeps the input in the context form", async ({ page, server, api }) => {
    const { flag, production } = await createCheckoutFlag(api);
    await signIn(page, server);
    await page.goto(flagAddress);
    await scriptsReady(page);
    const email = page.getByLabel("email");
    await email.fill("nobody");
    await email.blur();
    await expect(page.getByText("Fix the context to see the result.")).toBeVisible();

    await api.addRule(flag, production, country("DE", 1));
    await expect(page.getByRole("group", { name: "ON when country is DE" })).toBeVisible();
    await expect(email).toHaveValue("nobody");
  });

  test("shows a notice in a form that is being edited, even after a preview", async ({
    page,
    server,
    api,
  }) => {
    const rule = await openRule(page, server, api);
    await operand(page).fill("AT");
    const preview = page.getByRole("group", { name: "Effect of this change" });
    await expect(preview).toContainText(/After saving\s*ON when country is AT;/);
    await api.replaceRule(rule, country("CH", 1));
    await expect(page.locator(".bars")).toContainText("while you were editing");
    await expect(operand(page)).toHaveValue("AT");
  });

  test("shows in the effect of a form, and in a notice if the switch changed", async ({
    page,
    server,
    api,
  }) => {
    const { flag, staging } = await createCheckoutFlag(api);
    await api.switch(flag, staging, false);
    await signIn(page, server);
    await page.goto(`${flagAddress}?environment=${staging.id}&edit=rule`);
    await ruleFormReady(page);
    await page.getByLabel("Attribute").first().fill("country");
    await operand(page).fill("AT");
    const preview = page.getByRole("group", { name: "Effect of this change" });
    await expect(preview).toContainText("The flag is off here.");
    await api.switch(flag, staging, true);
    await expect(preview).toContainText(/^Now\s*ON for everyone/);
    await expect(page.locator(".bars")).toContainText(
      `${server.email} changed checkout_v2 in staging while you were editing.`,
    );
    // The form of the page is the same as at the beginning.
    await api.switch(flag, staging, false);
    await expect(preview).toContainText("The flag is off here.");
    await expect(operand(page)).toHaveValue("AT");
  });

  test("replaces a form in which nothing was typed", async ({ page, server, api }) => {
    const rule = await openRule(page, server, api);
    await page.getByRole("heading", { level: 1 }).click();
    const age = { attribute: "age", operator: ">", valueType: "number", valueInt: 17 } as const;
    await api.replaceRule(rule, { ...country("DE", 1), conditions: [age] });
    await expect(operand(page)).toHaveValue("17");
    await expect(operand(page)).toBeVisible();
    await expect(page.locator(".bars")).not.toContainText("while you were editing");
    // The new form works, too.
    await page.getByRole("button", { name: "Add condition" }).click();
    await expect(page.locator(".condition")).toHaveCount(2);
  });

  test("causes no notice if it is the user's own, even before its event arrives", async ({
    page,
    server,
    api,
  }) => {
    await page.addInitScript("delete window.SharedWorker");
    await openRule(page, server, api);
    await hold(page, "**/dashboard/events");
    await page.reload();
    await ruleFormReady(page);
    await operand(page).fill("AT");
    await page.getByRole("switch").click();
    const preview = page.getByRole("group", { name: "Effect of this change" });
    await expect(preview).toContainText("The flag is off here.");
    await expect(page.locator(".bars")).toBeEmpty();
  });

  test("closes a confirmation that is no longer needed", async ({ page, server, api }) => {
    const { flag, production } = await createCheckoutFlag(api);
    const rule = await api.addRule(flag, production, country("DE", 1));
    await signIn(page, server);
    await page.goto(`${flagAddress}?edit=delete-rule&rule=${rule.id}`);
    await expect(page.getByRole("button", { name: "Delete rule" })).toBeVisible();
    await scriptsReady(page);
    await api.deleteRule(rule);
    await expect(page.getByRole("link", { name: "Add rule" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Delete rule" })).toHaveCount(0);
  });

  test("leaves a preview as it is, and a notice says so", async ({
    page,
    server,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 409/);
    const { flag, staging, production } = await createCheckoutFlag(api);
    await api.switch(flag, production, false);
    await signIn(page, server);
    const query = `do=enable&flag=${flag.id}&environment=${production.id}`;
    const copy = `environment=${staging.id}&edit=copy&to=${production.id}`;
    await page.goto("/dashboard/audit");
    const revert = page.getByRole("link", { name: "Revert" }).first();
    const previews = [
      { path: `/dashboard/change-flags?${query}`, button: "Turn on 1 flag" },
      { path: `${await revert.getAttribute("href")}`, button: "Revert" },
      { path: `${flagAddress}?${copy}`, button: "Copy to production" },
    ];
    let percentage = 5;
    for (const { path, button } of previews) {
      await page.goto(path);
      await scriptsReady(page);
      const apply = page.getByRole("button", { name: button });
      await expect(apply).toBeVisible();
      percentage += 1;
      await api.setRollout(flag, production, percentage);
      await expect(page.locator(".bars")).toContainText(
        / rollout of checkout_v2 .* meanwhile, so this preview is out of date. Reload/,
      );
      await expect(page.getByRole("main")).not.toContainText(`${percentage}%`);
      await apply.click();
      await expect(page.getByRole("alert")).toContainText(
        /Somebody else (changed this|saved) first/,
      );
      await expect(page.getByRole("main")).toContainText(`${percentage}%`);
    }
  });
});
