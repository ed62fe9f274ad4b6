import type { Page, Response } from "@playwright/test";
import type { Api } from "../support/api.ts";
import { address, country, operand, ruleFormReady, shop } from "../support/flag-page.ts";
import { closedGate, hold } from "../support/hold.ts";
import type { Server } from "../support/server.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";
import { setVisibility } from "../support/visibility.ts";

test.describe("a change by somebody else", { tag: "@scripts" }, () => {
  /** Opens the form of the only rule of a flag, and returns the rule. */
  async function openRule(page: Page, server: Server, api: Api): Promise<{ id: string }> {
    const { flag, production } = await shop(api);
    const rule = await api.addRule(flag, production, country("DE", 1));
    await signIn(page, server);
    await page.goto(`${address}?edit=rule&rule=${rule.id}`);
    await ruleFormReady(page);
    return rule;
  }

  test("appears without a reload", async ({ page, browser, server, api }) => {
    const staging = await api.createEnvironment("Web shop", "staging");
    const flag = await api.createFlag("new_checkout", "New checkout");
    await signIn(page, server);
    await scriptsReady(page);
    let loads = 0;
    page.on("framenavigated", () => loads++);
    const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
    await expect(flagSwitch).not.toBeChecked();

    const other = await browser.newPage({ baseURL: server.url });
    await signIn(other, server);
    const theirs = other.getByRole("switch", { name: "New checkout in staging" });
    await theirs.click();
    await expect(flagSwitch).toBeChecked();

    await api.createFlag("dark_mode", "Dark mode");
    await expect(page.getByRole("row", { name: "Dark mode" })).toBeVisible();
    await expect(page.getByRole("heading", { level: 1 })).toContainText("2");
    await api.archive(await api.createFlag("old", "Old banner"));
    await expect(page.getByRole("row", { name: "Old banner" })).toHaveCount(0);

    // The updated content is interactive: the existing switch still works, and so does the new one.
    await flagSwitch.click();
    await expect(flagSwitch).not.toBeChecked();
    await expect(theirs).not.toBeChecked();
    await other.getByRole("heading", { level: 1 }).click();
    await api.switch(flag, staging, true);
    await page.getByRole("heading", { level: 1 }).click();
    await expect(flagSwitch).toBeChecked();
    await page.getByRole("switch", { name: "Dark mode in staging" }).click();
    await expect(other.getByRole("switch", { name: "Dark mode in staging" })).toBeChecked();
    expect(loads).toBe(0);
    await other.close();
  });

  test("updates a switch that was used on this page before", async ({ page, server, api }) => {
    const staging = await api.createEnvironment("Web shop", "staging");
    const flag = await api.createFlag("new_checkout", "New checkout");
    await signIn(page, server);
    await scriptsReady(page);
    const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
    await flagSwitch.click();
    await expect(page.getByRole("button", { name: "Undo" })).toBeVisible();
    // The message stays while it is under the pointer.
    await page.locator(".toast").hover();
    await expect(flagSwitch).toContainText("On");
    await api.switch(flag, staging, false);
    await expect(flagSwitch).not.toBeChecked();
    await expect(flagSwitch).toContainText("Off");
    await api.switch(flag, staging, true);
    await expect(flagSwitch).toBeChecked();
    await expect(flagSwitch).toContainText("On");
    // It is undone from the state that the page shows now.
    await page.getByRole("button", { name: "Undo" }).click();
    await expect(page.getByText("New checkout is off again in staging.")).toBeVisible();
  });

  test("repeats the evaluation in the playground", async ({ page, context, server, api }) => {
    const { flag, production } = await shop(api);
    await api.protect(production);
    await api.addRule(flag, production, country("DE", 1));
    await signIn(page, server);
    const tried = `${address}?environment=${production.id}`;
    const other = await context.newPage();
    const own = await context.newPage();
    await page.goto(tried);
    await other.goto(tried);
    await own.goto(`/dashboard/try?flag=checkout_v2&environment=${production.id}`);
    const answers = [page, other, own].map((each) => each.locator("#playground-answer"));
    for (const each of [page, other, own]) {
      await scriptsReady(each);
      await each.getByRole("textbox", { name: "country" }).fill("DE");
      await expect(each.locator("#playground-answer")).toContainText("Rule 1 matches.");
    }
    await page.bringToFront();
    await page.getByRole("switch", { name: "New checkout in production" }).click();
    await page.getByRole("button", { name: "Turn off in production" }).click();
    for (const answer of answers) {
      await expect(answer).toContainText("The flag is switched off in this environment.");
    }
    for (const each of [page, other, own]) {
      await expect(each.getByRole("textbox", { name: "country" })).toHaveValue("DE");
      await expect(each.getByText("Server and this browser agree.")).toBeVisible();
    }
  });

  test("never shows the old state of a switch", async ({ page, server, api }) => {
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("new_checkout", "New checkout");
    await signIn(page, server);
    await scriptsReady(page);
    const { opened, open } = closedGate();
    let requests = 0;
    await page.route("**/dashboard/flags", async (route) => {
      requests += 1;
      // The first page is rendered now and arrives late. No other page follows it.
      if (requests === 1) {
        const response = await route.fetch();
        await opened;
        await route.fulfill({ response });
      }
    });
    await api.createFlag("dark_mode", "Dark mode");
    await expect.poll(() => requests).toBe(1);
    const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
    await flagSwitch.click();
    const undo = page.getByRole("button", { name: "Undo" });
    await expect(undo).toBeVisible();
    open();
    await expect(page.getByRole("row", { name: "Dark mode" })).toBeVisible();
    await expect(flagSwitch).toBeChecked();
    await undo.click();
    await expect(page.getByText("New checkout is off again in staging.")).toBeVisible();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

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

  test("does not arrive after a form has deleted the object of the page", async ({
    page,
    server,
    api,
  }) => {
    const ben = await api.createUser("ben@example.com", "editor");
    await signIn(page, server);
    await page.goto(`/dashboard/people/${ben.id}`);
    await scriptsReady(page);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(`${request.method()} ${request.resourceType()}`));
    const { opened, open } = closedGate();
    let update: Promise<Response | null> | undefined;
    // The server receives the request for this page after it has deleted the user, and before the browser leaves.
    await page.route(`**/dashboard/people/${ben.id}*`, async (route) => {
      const request = route.request();
      if (request.method() === "GET") {
        update = request.response();
        await opened;
        await route.continue();
      } else {
        const response = await route.fetch({ maxRedirects: 0 });
        open();
        await update;
        await route.fulfill({ response });
      }
    });
    await api.createTokenAs(ben, "deploy");
    await expect.poll(() => requests).toContain("GET fetch");
    await page.getByRole("button", { name: `Delete ${ben.email}` }).click();
    const confirmation = page.getByRole("dialog", { name: `Delete ${ben.email}` });
    await confirmation.getByRole("button", { name: `Delete ${ben.email}` }).click();
    await expect(page.getByRole("heading", { level: 1 })).toContainText("People");
    // The page has canceled its request, so there is no response.
    expect(await update).toBeNull();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("that arrives during an update is shown by the next one", async ({
    page,
    context,
    server,
    api,
  }) => {
    await api.createEnvironment("Web shop", "staging");
    await signIn(page, server);
    // The list of flags would ask for the first steps again and again.
    await page.goto("/dashboard/audit");
    await scriptsReady(page);
    const other = await context.newPage();
    await other.goto("/dashboard/audit");
    const { opened, open } = closedGate();
    let responses = 0;
    await page.route("**/dashboard/audit", async (route) => {
      const response = await route.fetch();
      responses += 1;
      if (responses === 1) {
        await opened;
      }
      await route.fulfill({ response });
    });
    await api.createFlag("new_checkout", "New checkout");
    await expect.poll(() => responses).toBe(1);
    await api.createFlag("dark_mode", "Dark mode");
    await expect(other.getByText("created dark_mode")).toBeVisible();
    open();
    await expect(page.getByText("created dark_mode")).toBeVisible();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("does not bring back the rows that a search has filtered out meanwhile", async ({
    page,
    server,
    api,
  }) => {
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("checkout_v2", "Checkout in one page");
    await signIn(page, server);
    await scriptsReady(page);
    const address = "**/dashboard/flags";
    const release = await hold(page, address);
    const update = page.waitForRequest(address);
    await api.createFlag("dark_mode", "Dark mode");
    const request = await update;
    await page.getByRole("searchbox").fill("check");
    await expect(page).toHaveURL(/\?q=check$/);
    await page.evaluate(() => {
      const root = document.documentElement;
      new MutationObserver(() => {
        if (document.body.textContent?.includes("dark_mode")) {
          root.dataset.mixed = "";
        }
      }).observe(document.body, { childList: true, subtree: true });
    });
    release();
    await (await request.response())?.finished();
    // The update is repeated at the new address.
    await page.waitForResponse("**/dashboard/flags?q=check");
    await expect(page.getByRole("main").getByRole("row")).toHaveText([/Flag/, /Checkout in one/]);
    await expect(page.locator(":root[data-mixed]")).toHaveCount(0);
  });

  test("leaves the page as it is after an upgrade of the service, and says so", async ({
    page,
    server,
    api,
  }) => {
    await api.createEnvironment("Web shop", "staging");
    await signIn(page, server);
    await scriptsReady(page);
    await page.route("**/dashboard/flags", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(/pennon\.\w+\.css/g, "pennon.next.css");
      await route.fulfill({ response, body });
    });
    await api.createFlag("dark_mode", "Dark mode");
    const notice = page.getByRole("status").filter({ hasText: "Pennon has been updated." });
    await expect(notice).toBeVisible();
    await expect(page.getByRole("row", { name: "Dark mode" })).toHaveCount(0);
    await page.unrouteAll({ behavior: "wait" });
    await page.getByRole("link", { name: "Reload" }).click();
    await expect(page.getByRole("row", { name: "Dark mode" })).toBeVisible();
    await expect(page.locator(".bars")).toBeEmpty();
  });

  test("is requested again after the server failed to render it", async ({
    page,
    server,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 503/);
    await api.createEnvironment("Web shop", "staging");
    await signIn(page, server);
    await scriptsReady(page);
    let isDown = true;
    let failures = 0;
    await page.route("**/dashboard/flags", async (route) => {
      if (isDown) {
        failures++;
        await route.fulfill({ status: 503 });
      } else {
        await route.fallback();
      }
    });
    await api.createFlag("dark_mode", "Dark mode");
    await expect.poll(() => failures).toBeGreaterThan(0);
    isDown = false;
    await expect(page.getByText("dark_mode")).toBeVisible();
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
    const { flag, production } = await shop(api);
    const first = await api.addRule(flag, production, country("DE", 1));
    await api.addRule(flag, production, country("CH", 2));
    await signIn(page, server);
    await page.goto(address);
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
    const { flag, production } = await shop(api);
    await api.addRule(flag, production, country("AT", 1));
    await api.addRule(flag, production, country("CH", 2));
    await signIn(page, server);
    await page.goto(address);
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
    const { flag, production } = await shop(api);
    await signIn(page, server);
    await page.goto(address);
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
    const preview = page.waitForResponse("**/dashboard/api/preview");
    await operand(page).fill("AT");
    await preview;
    await api.replaceRule(rule, country("CH", 1));
    await expect(page.locator(".bars")).toContainText("while you were editing");
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

  test("closes a confirmation that is no longer needed", async ({ page, server, api }) => {
    const { flag, production } = await shop(api);
    const rule = await api.addRule(flag, production, country("DE", 1));
    await signIn(page, server);
    await page.goto(`${address}?edit=delete-rule&rule=${rule.id}`);
    await expect(page.getByRole("button", { name: "Delete rule" })).toBeVisible();
    await scriptsReady(page);
    await api.deleteRule(rule);
    await expect(page.getByRole("link", { name: "Add rule" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Delete rule" })).toHaveCount(0);
  });

  test("is shown in the confirmation of a switch", async ({ page, server, api }) => {
    const { flag, production } = await shop(api);
    await api.protect(production);
    await api.switch(flag, production, false);
    await api.setRollout(flag, production, 5);
    await signIn(page, server);
    await page.goto(address);
    await scriptsReady(page);
    const flagSwitch = page.getByRole("switch", { name: "New checkout in production" });
    await flagSwitch.click();
    const question = page.getByRole("dialog", { name: "Turn on New checkout in production?" });
    await expect(question).toContainText("5%");

    await api.setRollout(flag, production, 60);
    await expect(page.locator("#rules")).toContainText("60%");
    await question.getByRole("button", { name: "Turn on in production" }).click();
    await expect(question).toContainText("60%");
    await question.getByRole("button", { name: "Turn on in production" }).click();
    await expect(flagSwitch).toBeChecked();
  });

  test("keeps the chosen language of the snippets", async ({ page, server, api }) => {
    const staging = await api.createEnvironment("Web shop", "staging");
    await signIn(page, server);
    await page.goto(`/dashboard/environments/${staging.id}`);
    await scriptsReady(page);
    await page.getByText("Node.js", { exact: true }).click();
    await expect(page.getByRole("region", { name: "Node.js" })).toBeVisible();
    await page.getByRole("heading", { level: 1 }).click();

    await api.renameEnvironment(staging, "preview");
    await expect(page.getByRole("heading", { level: 1 })).toContainText("preview");
    await expect(page).toHaveTitle(/preview/);
    await expect(page.getByRole("region", { name: "Node.js" })).toBeVisible();
    await expect(page.getByRole("radio", { name: "Node.js" })).toBeChecked();
  });

  test("reaches eight tabs through one stream", async ({ page, context, server, api }) => {
    test.setTimeout(180_000);
    await api.createEnvironment("Web shop", "staging");
    await signIn(page, server);
    const tabs = [page];
    // One stream per tab would use all six connections that a browser has for a server, and the seventh page would
    // never load.
    while (tabs.length < 8) {
      const tab = await context.newPage();
      await tab.goto("/dashboard/flags");
      tabs.push(tab);
    }
    await Promise.all(tabs.map(scriptsReady));
    await api.createFlag("new_checkout", "New checkout");
    for (const tab of tabs) {
      await expect(tab.getByRole("row", { name: "New checkout" })).toBeVisible();
    }
  });

  test("is not sent to a hidden page, which catches up when it is visible again", async ({
    page,
    context,
    server,
    api,
  }) => {
    await api.createEnvironment("Web shop", "staging");
    await page.addInitScript(() => {
      const kinds: string[] = [];
      const Original = SharedWorker;
      const Recorded = class extends Original {
        constructor(...parameters: ConstructorParameters<typeof SharedWorker>) {
          super(...parameters);
          this.port.addEventListener("message", ({ data }) => kinds.push(data.kind));
        }
      };
      Object.assign(window, { kinds, SharedWorker: Recorded });
    });
    const received = () => page.evaluate("window.kinds.splice(0)");
    await signIn(page, server);
    const other = await context.newPage();
    await other.goto("/dashboard/flags");
    await Promise.all([page, other].map(scriptsReady));
    await api.createFlag("new_checkout", "New checkout");
    await expect(page.getByRole("row", { name: "New checkout" })).toBeVisible();
    expect(await received()).toContain("change");

    await setVisibility(page, "hidden");
    await api.createFlag("dark_mode", "Dark mode");
    await expect(other.getByRole("row", { name: "Dark mode" })).toBeVisible();
    expect(await received()).toEqual([]);
    await setVisibility(page, "visible");
    await expect(page.getByRole("row", { name: "Dark mode" })).toBeVisible();
    expect(await received()).toEqual(["position"]);
  });

  test("does not arrive after the session has ended, and the page says so", async ({
    page,
    context,
    server,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 401/);
    await signIn(page, server);
    await page.goto("/dashboard/new-flag");
    await scriptsReady(page);
    await page.getByLabel("Name").fill("New checkout");

    const other = await context.newPage();
    await other.goto("/dashboard/flags");
    await other.getByRole("button", { name: "Sign out" }).click();
    await expect(page.locator(".bars")).toContainText("Your session has ended");

    await signIn(other, server);
    await scriptsReady(other);
    await expect(page.locator(".bars")).toBeEmpty();
    await expect(page.getByLabel("Name")).toHaveValue("New checkout");
  });

  test("a page reports that the server is unreachable, and catches up afterwards", async ({
    page,
    server,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/Failed to load|ERR_/);
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("dark_mode", "Dark mode");
    await signIn(page, server);
    await scriptsReady(page);
    await server.stop();
    const bars = page.locator(".bars");
    await expect(bars).toContainText("Pennon cannot be reached");
    await page.getByRole("switch", { name: "Dark mode" }).click();
    const message = page.getByRole("alert");
    await expect(message).toContainText("No answer arrived. The change may have happened or not.");
    await expect(message).not.toContainText("Not switched");
    const [above, below] = [await message.boundingBox(), await bars.boundingBox()];
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThan(below?.y ?? 0);
    await server.start();
    await api.createFlag("new_checkout", "New checkout");
    await expect(page.locator(".bars")).toBeEmpty();
    await expect(page.getByRole("row", { name: "New checkout" })).toBeVisible();
  });

  test("a form stays on its page while the server is unreachable", async ({
    page,
    server,
    browserErrors,
  }) => {
    browserErrors.ignore(/Failed to load|ERR_/);
    await signIn(page, server);
    await page.goto("/dashboard/new-flag");
    await scriptsReady(page);
    await page.getByLabel("Name").fill("New checkout");
    await server.stop();
    const bars = page.locator(".bars");
    await expect(bars).toContainText("Pennon cannot be reached");
    await page.getByRole("button", { name: "Create flag" }).click();
    await expect(bars).toContainText(
      "Not sent: Pennon cannot be reached. What you typed is still here.",
    );
    await expect(page.getByLabel("Name")).toHaveValue("New checkout");
    // The page may not have noticed yet that the server is back.
    await server.start();
    await page.getByRole("button", { name: "Create flag" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toContainText("New checkout");
  });
});

test("a form that leads to no page can be sent again after ten seconds", {
  tag: "@scripts",
}, async ({ page, server }) => {
  await page.clock.install();
  await signIn(page, server);
  await page.goto("/dashboard/new-flag");
  await scriptsReady(page);
  await page.getByLabel("Name").fill("New checkout");
  await page.route("**/dashboard/new-flag", (route) => route.fulfill({ status: 204 }), {
    times: 1,
  });
  const create = page.getByRole("button", { name: "Create flag" });
  await create.click();
  await expect(create).toHaveAttribute("aria-busy", "true");
  await page.clock.runFor(10_000);
  await expect(create).not.toHaveAttribute("aria-busy");
  await create.click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("New checkout");
});

test("a browser without a network says so, and switches nothing", { tag: "@scripts" }, async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/Failed to load|ERR_/);
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  // Only a page with a stream shows the new flag. Its stream is not cut, and its first message would hide the bar.
  await api.createFlag("new_checkout", "New checkout");
  await expect(page.getByRole("switch")).toBeVisible();
  await page.context().setOffline(true);
  await expect(page.locator(".bars")).toContainText(
    /You are offline. This page shows the state of \d\d:\d\d/,
  );
  await page.getByRole("switch").click();
  await expect(page.getByRole("alert")).toContainText("Not switched. You are offline.");
  await expect(page.getByRole("switch")).not.toBeChecked();
  await page.context().setOffline(false);
  await expect(page.locator(".bars")).toBeEmpty();
  await page.getByRole("switch").click();
  await expect(page.getByRole("switch")).toBeChecked();
});

test("a switch that waits for its answer says so", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await scriptsReady(page);
  const answer = await hold(page, "**/set-enabled");
  await page.getByRole("switch").click();
  await expect(page.locator(".toast")).toContainText(
    "Waiting for an answer. New checkout in staging may not be switched yet.",
  );
  answer();
  await expect(page.locator(".toast")).toContainText("New checkout is on in staging.");
});

test.describe("the stream of events", { tag: "@scripts" }, () => {
  /** Makes the page listen to the stream, and returns a function that reads the events received so far. */
  async function listen(page: Page): Promise<() => Promise<string>> {
    await page.evaluate(async () => {
      const answer = await fetch("/dashboard/events");
      const { dataset } = document.documentElement;
      dataset.received = `${answer.status} `;
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      void (async () => {
        for (let part = await reader?.read(); part !== undefined; part = await reader?.read()) {
          dataset.received += part.done ? "ended" : part.value;
          if (part.done) {
            return;
          }
        }
      })();
    });
    return async () => (await page.locator("html").getAttribute("data-received")) ?? "";
  }

  test("contains changes by others, and changes of accounts only for admins", async ({
    page,
    server,
    api,
  }) => {
    await signIn(page, await api.createUser("ben@example.com", "viewer"));
    const received = await listen(page);
    await expect.poll(received).toContain("event: position");
    await api.createUser("cleo@example.com", "viewer");
    await api.createFlag("new_checkout", "New checkout");
    await expect.poll(received).toContain('"flag":"new_checkout"');
    expect(await received()).toContain(`"by":"${server.email}"`);
    expect(await received()).not.toContain("USER_");
  });

  test("ends when the user's role changes, and requires a session", async ({
    page,
    context,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 401/);
    const ben = await api.createUser("ben@example.com", "admin");
    await signIn(page, ben);
    const received = await listen(page);
    await expect.poll(received).toContain("event: position");
    expect(await received()).not.toContain("ended");
    await api.setRole(ben, "viewer");
    await expect.poll(received).toContain("ended");
    await context.clearCookies();
    await expect.poll(await listen(page)).toContain("401");
  });
});
