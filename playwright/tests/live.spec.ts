import type { Page, Response } from "@playwright/test";
import { country, createCheckoutFlag, flagAddress } from "../support/flag-page.ts";
import { closedGate, hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";
import { setVisibility } from "../support/visibility.ts";

/** Waits until Playwright has reported all requests that the page has sent. */
async function requestsReported(page: Page): Promise<void> {
  const last = page.waitForRequest("**/health");
  await page.evaluate(async () => {
    await fetch("/health");
  });
  await last;
}

test.describe("a change by somebody else", { tag: "@scripts" }, () => {
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
    await other.getByRole("heading", { level: 1 }).hover();
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
    const { flag, production } = await createCheckoutFlag(api);
    await api.protect(production);
    await api.addRule(flag, production, country("DE", 1));
    await signIn(page, server);
    const tried = `${flagAddress}?environment=${production.id}`;
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
    const rendered = closedGate();
    const { opened, open } = closedGate();
    // The first page is rendered before the switch is used, and arrives afterwards. No other page follows it.
    await page.route("**/dashboard/flags", () => {});
    await page.route(
      "**/dashboard/flags",
      async (route) => {
        const response = await route.fetch();
        rendered.open();
        await opened;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await api.createFlag("dark_mode", "Dark mode");
    await rendered.opened;
    const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
    await flagSwitch.click();
    const undo = page.getByRole("button", { name: "Undo" });
    await expect(undo).toBeVisible();
    // The update would wait while the pointer is at the switch.
    await page.getByRole("heading", { level: 1 }).hover();
    open();
    await expect(page.getByRole("row", { name: "Dark mode" })).toBeVisible();
    await expect(flagSwitch).toBeChecked();
    await undo.click();
    await expect(page.getByText("New checkout is off again in staging.")).toBeVisible();
    await page.unrouteAll({ behavior: "ignoreErrors" });
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

  test("leaves the page as it is after an upgrade of the server, and says so", async ({
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

  test("is requested again if the server does not answer, or fails to render it", async ({
    page,
    server,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 503/);
    await page.clock.install();
    await signIn(page, server);
    // The list of flags would ask for the first steps again and again.
    await page.goto("/dashboard/audit");
    await scriptsReady(page);
    const bars = page.locator(".bars");
    let requests = 0;
    await page.route("**/dashboard/audit", async (route) => {
      requests += 1;
      if (requests === 2) {
        await route.fulfill({ status: 503 });
      } else if (requests > 2) {
        await route.fallback();
      }
    });
    await api.createFlag("dark_mode", "Dark mode");
    await expect.poll(() => requests).toBe(1);
    await expect(bars).toBeEmpty();
    await page.clock.runFor(30_000);
    await expect(bars).toContainText("This page could not be updated. It shows the state of");
    await expect.poll(() => requests).toBe(2);
    await page.clock.runFor(5_000);
    await expect(page.getByText("created dark_mode")).toBeVisible();
    await expect(bars).toBeEmpty();
  });

  test("is shown in the confirmation of a switch", async ({ page, server, api }) => {
    const { flag, production } = await createCheckoutFlag(api);
    await api.protect(production);
    await api.switch(flag, production, false);
    await api.setRollout(flag, production, 5);
    await signIn(page, server);
    await page.goto(flagAddress);
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

  test("is not the only cause of an update: traffic and times stay current", async ({
    page,
    server,
  }) => {
    await page.clock.install();
    await signIn(page, server);
    await page.goto("/dashboard/environments");
    await scriptsReady(page);
    await page.clock.runFor(5_000);
    let requests = 0;
    page.on("request", (request) => {
      requests += request.url().endsWith("/dashboard/environments") ? 1 : 0;
    });
    await page.clock.runFor(30_000);
    await requestsReported(page);
    expect(requests).toBe(0);
    await page.clock.runFor(30_000);
    await expect.poll(() => requests).toBe(1);

    await setVisibility(page, "hidden");
    await page.clock.runFor(120_000);
    await requestsReported(page);
    expect(requests).toBe(1);
    await setVisibility(page, "visible");
    await page.clock.runFor(1_000);
    await expect.poll(() => requests).toBe(2);
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
});
