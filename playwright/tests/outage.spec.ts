import type { Page } from "@playwright/test";
import { createCheckoutFlag, flagAddress, ruleFormReady } from "../support/flag-page.ts";
import { Gateway } from "../support/gateway.ts";
import { closedGate, hold } from "../support/hold.ts";
import { servePlain, serveReact, shopFlags, switchBanner, test } from "../support/shop.ts";
import { expect, scriptsReady, signIn } from "../support/test.ts";
import { setVisibility } from "../support/visibility.ts";

/** Resolves when a request of the page has been refused, after its open connections were cut off. */
function waitForRefusedRequest(page: Page): Promise<unknown> {
  return page.waitForEvent("requestfailed", (request) =>
    Boolean(request.failure()?.errorText.includes("ERR_CONNECTION_REFUSED")),
  );
}

/** Advances the page's clock in steps until a condition holds. */
async function advanceClockUntil(page: Page, holds: () => Promise<void>): Promise<void> {
  let over = false;
  const held = holds().finally(() => {
    over = true;
  });
  while (!over) {
    await page.clock.runFor(1_000);
  }
  await held;
}

test("a form is held in a tab that becomes visible during an outage", { tag: "@scripts" }, async ({
  page,
  context,
  server,
  browserErrors,
}) => {
  browserErrors.ignore(/Failed to load|ERR_/);
  await signIn(page, server);
  await page.goto("/dashboard/new-flag");
  await scriptsReady(page);
  await page.getByLabel("Name").fill("New checkout");
  await setVisibility(page, "hidden");
  const other = await context.newPage();
  await other.goto("/dashboard/flags");
  await scriptsReady(other);
  await server.stop();
  await expect(other.locator(".bars")).toContainText("Pennon cannot be reached");
  await expect(page.locator(".bars")).toBeEmpty();

  await setVisibility(page, "visible");
  await page.getByRole("button", { name: "Create flag" }).click();
  await expect(page.locator(".bars")).toContainText("Not sent: Pennon cannot be reached.");
  await expect(page.getByLabel("Name")).toHaveValue("New checkout");
});

test("a tab whose stream is open again reports no earlier failure", { tag: "@scripts" }, async ({
  page,
  server,
  browserErrors,
}) => {
  browserErrors.ignore(/Failed to load|ERR_/);
  await page.addInitScript("delete window.SharedWorker");
  await page.clock.install();
  const { opened, open } = closedGate();
  let streams = 0;
  await page.route("**/dashboard/events", async (route) => {
    if (route.request().method() === "HEAD") {
      await opened;
      await route.abort();
    } else {
      streams += 1;
      await (streams === 1 ? route.fulfill({ status: 503 }) : route.continue());
    }
  });
  const check = page.waitForRequest((request) => request.method() === "HEAD");
  await signIn(page, server);
  await check;
  await setVisibility(page, "hidden");
  const answer = page.waitForResponse("**/dashboard/events");
  await setVisibility(page, "visible");
  expect((await answer).status()).toBe(200);
  const failure = page.waitForEvent("requestfailed", (request) => request.method() === "HEAD");
  open();
  await failure;
  await page.clock.runFor(10_000);
  await expect(page.locator(".bars")).toBeEmpty();
  expect(streams).toBe(2);
});

test("a form is held while a proxy answers in place of the server, and the page recovers", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/status of 502/);
  // Tests cannot answer the requests of a shared worker.
  await page.addInitScript("delete window.SharedWorker");
  await page.clock.install();
  await signIn(page, server);
  let checks = 0;
  await page.route("**/dashboard/events", async (route) => {
    const isCheck = route.request().method() === "HEAD";
    checks += isCheck ? 1 : 0;
    // The first question why the stream was refused gets no answer.
    if (!isCheck || checks > 1) {
      await route.fulfill({ status: 502 });
    }
  });
  await page.goto("/dashboard/environments/new");
  await scriptsReady(page);
  const bars = page.locator(".bars");
  await advanceClockUntil(page, () => expect(bars).toContainText("Pennon cannot be reached"));
  await page.getByLabel("Product").fill("Web shop");
  await page.getByLabel("Name").fill("staging");
  await page.getByRole("button", { name: "Create environment" }).click();
  await expect(bars).toContainText("Not sent: Pennon cannot be reached.");
  await expect(page.getByLabel("Product")).toHaveValue("Web shop");
  await page.getByRole("button", { name: "Create environment" }).click();

  await page.unroute("**/dashboard/events");
  await advanceClockUntil(page, () => expect(bars).toBeEmpty());
  await api.createEnvironment("Blog", "live");
  await page.getByRole("button", { name: "Create environment" }).click();
  await expect(page.getByRole("region", { name: "SDK key" })).toBeVisible();
});

test("a form that was not sent during an outage shows no notice without a change", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/status of 502/);
  await page.addInitScript("delete window.SharedWorker");
  await page.clock.install();
  const ben = await api.createUser("ben@example.com", "viewer");
  await signIn(page, server);
  await page.route("**/dashboard/events", (route) => route.fulfill({ status: 502 }));
  await page.goto(`/dashboard/people`);
  await scriptsReady(page);
  const bars = page.locator(".bars");
  await advanceClockUntil(page, () => expect(bars).toContainText("Pennon cannot be reached"));
  const row = page.getByRole("row", { name: ben.email });
  await row.getByRole("combobox").selectOption("editor");
  await row.getByRole("button", { name: "Change role" }).click();
  await expect(bars).toContainText("Not sent: Pennon cannot be reached.");
  await page.unroute("**/dashboard/events");
  await advanceClockUntil(page, () => expect(bars).toBeEmpty());
  await api.createUser("cleo@example.com", "viewer");
  const added = page.getByRole("row", { name: "cleo@example.com" });
  await advanceClockUntil(page, () => expect(added).toBeVisible());
  await expect(bars).toBeEmpty();
  await expect(row.getByRole("combobox")).toHaveValue("editor");
});

test("a tab recovers from an outage during which another one was left", {
  tag: "@scripts",
}, async ({ page, context, server, api, browserErrors }) => {
  browserErrors.ignore(/status of 502/);
  await using gateway = await Gateway.start(server);
  await signIn(page, server);
  const other = await context.newPage();
  for (const each of [page, other]) {
    await each.goto(`${gateway.url}/dashboard/flags`);
    await scriptsReady(each);
  }
  await api.createFlag("new_checkout", "New checkout");
  for (const each of [page, other]) {
    await expect(each.getByText("new_checkout")).toBeVisible();
  }
  gateway.cut();
  await expect(page.locator(".bars")).toContainText("Pennon cannot be reached");
  // The stream, and the question why it was refused.
  await expect.poll(() => gateway.refusals).toBeGreaterThan(1);
  await other.goto("about:blank");
  gateway.restore();
  await expect(page.locator(".bars")).toBeEmpty();
  await api.createFlag("dark_mode", "Dark mode");
  await expect(page.getByText("dark_mode")).toBeVisible();
});

test("a tab that is shown again while its stream opens needs no second stream", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await page.addInitScript("delete window.SharedWorker");
  let streams = 0;
  page.on("request", (request) => {
    streams += request.url().endsWith("/dashboard/events") ? 1 : 0;
  });
  const release = await hold(page, "**/dashboard/events");
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await scriptsReady(page);
  await setVisibility(page, "hidden");
  await setVisibility(page, "visible");
  release();
  await api.createFlag("new_checkout", "New checkout");
  await expect(page.getByRole("row", { name: "New checkout" })).toBeVisible();
  expect(streams).toBe(1);
});

test("a tab that was hidden for long closes its stream, and catches up on a new one", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await page.addInitScript("delete window.SharedWorker");
  await page.clock.install();
  await signIn(page, server);
  // The list of flags would ask for the first steps again and again.
  await page.goto("/dashboard/audit");
  await scriptsReady(page);
  await api.createFlag("new_checkout", "New checkout");
  await expect(page.getByText("created new_checkout")).toBeVisible();
  const closed = page.waitForEvent("requestfailed", (request) =>
    request.url().endsWith("/dashboard/events"),
  );
  await setVisibility(page, "hidden");
  await page.clock.runFor(10_000);
  await closed;
  await api.createFlag("dark_mode", "Dark mode");
  await setVisibility(page, "visible");
  await expect(page.getByText("created dark_mode")).toBeVisible();
  await api.createFlag("search", "Fast search");
  await expect(page.getByText("created search")).toBeVisible();
});

test("a form works once its code has been loaded, after failures too", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/Failed to load|failed to fetch/i);
  await page.clock.install();
  await createCheckoutFlag(api);
  await signIn(page, server);
  await page.route(/\/pennon\.\w+\.js/, (route) => route.abort(), { times: 1 });
  await page.route(/\/pennon\.\w+\.wasm/, (route) => route.fulfill({ status: 503 }), { times: 1 });
  await page.goto(`${flagAddress}?edit=rule`);
  await advanceClockUntil(page, () => ruleFormReady(page));
  await page.getByRole("button", { name: "Add condition" }).click();
  await expect(page.locator(".condition")).toHaveCount(2);
});

for (const [name, example] of [
  ["a React page", serveReact],
  ["a page without a bundler", servePlain],
] as const) {
  test(`${name} opened during an outage gets flags after it`, { tag: "@scripts" }, async ({
    page,
    server,
    api,
    serve,
    browserErrors,
  }) => {
    browserErrors.ignore(/^Failed to load resource: net::ERR_/);
    const { environment } = await shopFlags(api);
    const shop = await serve(example, environment);
    await server.stop();
    await page.clock.install();
    await page.goto(shop.url);
    await expect(page.getByRole("button", { name: "Check out" })).toBeVisible();
    // All retries have failed.
    await advanceClockUntil(page, () =>
      expect(page.getByRole("status")).toHaveText(/^Cannot reach/),
    );
    await expect(page.getByRole("button", { name: "Check out" })).toBeVisible();
    await server.start();
    await advanceClockUntil(page, () =>
      expect(page.getByRole("status")).toHaveText("The flags are up to date."),
    );
    await expect(page.getByRole("button", { name: "Buy now" })).toBeVisible();
  });

  test(`${name} keeps its flags during an outage, and follows changes after it`, {
    tag: "@scripts",
  }, async ({ page, context, server, api, serve, browserErrors }) => {
    // The browser reports failed requests. Any other error is a fault.
    browserErrors.ignore(/^Failed to load resource: net::ERR_/);
    const { environment } = await shopFlags(api);
    const shop = await serve(example, environment);
    await page.goto(shop.url);
    await page.getByLabel("Signed in as").selectOption("linus");
    await expect(page.getByRole("status")).toHaveText("The flags are up to date.");
    await expect(page.getByText("Free delivery")).toBeVisible();
    await expect(page.getByRole("button", { name: "Check out" })).toBeVisible();
    const shown = await page.locator("body").innerText();

    const noticed = waitForRefusedRequest(page);
    await server.stop();
    await noticed;
    expect(await page.locator("body").innerText()).toBe(shown);
    // The page continues to evaluate flags, even for another user.
    await page.getByLabel("Signed in as").selectOption("ada");
    await expect(page.getByRole("button", { name: "Buy now" })).toBeVisible();

    await server.start();
    const dashboard = await context.newPage();
    await signIn(dashboard, server);
    await dashboard.goto("/dashboard/flags");
    await switchBanner(dashboard);
    await expect(page.getByText("Free delivery")).toBeHidden();
    await expect(page.getByRole("status")).toHaveText("The flags are up to date.");
    // A reload would have reset the signed-in user.
    await expect(page.getByLabel("Signed in as")).toHaveValue("ada");
  });
}

test("a page reports that the server is unreachable, and catches up afterwards", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
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

test("a form stays on its page while the server is unreachable", { tag: "@scripts" }, async ({
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
