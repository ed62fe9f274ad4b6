import { evaluate } from "../support/api.ts";
import { country, createCheckoutFlag, flagAddress } from "../support/flag-page.ts";
import { closedGate, hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test("a switch changes the evaluation, and keeps its state", async ({ page, server, api }) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);

  const inStaging = page.getByRole("switch", { name: "New checkout in staging" });
  const inProduction = page.getByRole("switch", { name: "New checkout in production" });
  await expect(inStaging).not.toBeChecked();
  await inStaging.click();
  await expect(inStaging).toBeChecked();
  await expect
    .poll(() => evaluate(server, staging.sdkKey, "new_checkout"))
    .toEqual({ enabled: true, reason: "flag_enabled" });
  expect(await evaluate(server, production.sdkKey, "new_checkout")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });

  await page.goto("/dashboard/flags");
  await expect(inStaging).toBeChecked();
  await expect(inProduction).not.toBeChecked();

  await inStaging.click();
  await expect(inStaging).not.toBeChecked();
  await expect
    .poll(() => evaluate(server, staging.sdkKey, "new_checkout"))
    .toEqual({ enabled: false, reason: "flag_disabled" });
});

test("a switch does not reload the page", { tag: "@scripts" }, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await scriptsReady(page);

  let loads = 0;
  page.on("framenavigated", () => loads++);
  const answered = page.waitForResponse((answer) => answer.url().includes("/dashboard/api/"));
  await page.getByRole("switch", { name: "New checkout in staging" }).click();
  expect((await answered).ok()).toBe(true);
  await expect(page.getByRole("switch", { name: "New checkout in staging" })).toBeChecked();
  expect(loads).toBe(0);
});

test("a switch shows its new state at once, and ignores further presses until the answer", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await page.clock.install();
  await signIn(page, server);
  await scriptsReady(page);
  let requests = 0;
  const answer = await hold(page, "**/set-enabled");
  page.on("request", (request) => {
    requests += request.url().endsWith("/set-enabled") ? 1 : 0;
  });
  const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
  await flagSwitch.press("Space");
  await expect(flagSwitch).toBeChecked();
  await expect(flagSwitch).toHaveAttribute("aria-busy", "true");
  await flagSwitch.press("Space");
  answer();
  await expect(page.getByText("New checkout is on in staging.")).toBeVisible();
  await expect(flagSwitch).toBeFocused();
  await expect(flagSwitch).toBeChecked();
  expect(requests).toBe(1);
  await page.clock.runFor(4_000);
  await expect(page.locator(".toast")).toContainText("New checkout is on in staging.");
});

test("a refused switch goes back and shows the reason", { tag: "@scripts" }, async ({
  page,
  context,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 401/);
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await scriptsReady(page);

  await context.clearCookies();
  const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
  await flagSwitch.click();
  await expect(page.getByRole("alert")).toContainText("Not switched");
  await expect(flagSwitch).not.toBeChecked();
});

test("a switch can be undone", { tag: "@scripts" }, async ({ page, server, api }) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
  await scriptsReady(page);
  await flagSwitch.click();
  await expect(page.getByText("New checkout is on in staging.")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("New checkout is off again in staging.")).toBeVisible();
  await expect(flagSwitch).not.toBeChecked();
  expect(await evaluate(server, staging.sdkKey, "new_checkout")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });
});

test("a protected environment asks for confirmation without scripts too, on the flag's page", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  test.skip(javaScriptEnabled !== false, "With scripts the list asks.");
  const production = await api.createEnvironment("Web shop", "production");
  await api.protect(production);
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.setRollout(flag, production, 25);
  await signIn(page, server);
  const flagSwitch = page.getByRole("switch", { name: "New checkout in production" });
  await flagSwitch.click();
  await expect(page.getByText("25% of users are ON, by userId; everyone else")).toBeVisible();
  await page.getByRole("link", { name: "Cancel" }).click();
  await expect(flagSwitch).not.toBeChecked();
  await flagSwitch.click();
  await page.getByRole("button", { name: "Turn on in production" }).click();
  await expect(flagSwitch).toBeChecked();
  await expect(page.getByRole("button", { name: "Turn on in production" })).toHaveCount(0);
});

test("a protected environment asks for confirmation of a switch, and shows the effect", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const production = await api.createEnvironment("Web shop", "production");
  await api.protect(production);
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.setRollout(flag, production, 25);
  await signIn(page, server);
  const flagSwitch = page.getByRole("switch", { name: "New checkout in production" });
  await scriptsReady(page);

  await flagSwitch.press("Space");
  const question = page.getByRole("dialog", { name: "Turn on New checkout in production?" });
  await expect(question).toContainText("25%");
  await expect(question.getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(question).toBeHidden();
  await expect(flagSwitch).not.toBeChecked();
  await expect(flagSwitch).toBeFocused();

  await flagSwitch.press("Space");
  await question.getByRole("button", { name: "Turn on in production" }).click();
  await expect(flagSwitch).toBeChecked();
  await expect(flagSwitch).toHaveAttribute("data-state", "partly");
  // Undoing does not ask for confirmation.
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("New checkout is off again in production.")).toBeVisible();
});

test("a protected environment asks for confirmation on the flag's page if the dialog is incomplete", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const production = await api.createEnvironment("Web shop", "production");
  await api.protect(production);
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await scriptsReady(page);
  await page.locator("#switch-question .primary").evaluate((button) => button.remove());
  const flagSwitch = page.getByRole("switch", { name: "New checkout in production" });
  await flagSwitch.click();
  await page.getByRole("button", { name: "Turn on in production" }).click();
  await expect(page).toHaveURL(/\/dashboard\/flags\/new_checkout/);
  await expect(flagSwitch).toBeChecked();
});

test("a concurrent switch is not overwritten", async ({
  page,
  server,
  api,
  browserErrors,
  javaScriptEnabled,
}) => {
  browserErrors.ignore(/status of 409/);
  const staging = await api.createEnvironment("Web shop", "staging");
  const flag = await api.createFlag("new_checkout", "New checkout");
  // Otherwise, the page may show the new state before the click. Tests cannot hold the requests of a shared worker.
  await page.addInitScript("delete window.SharedWorker");
  await hold(page, "**/dashboard/events");
  await signIn(page, server);
  await api.switch(flag, staging, true);
  await api.switch(flag, staging, false);

  const flagSwitch = page.getByRole("switch", { name: "New checkout in staging" });
  await flagSwitch.click();
  await expect(page.getByRole("alert")).toContainText("Somebody else changed this first");
  await expect(flagSwitch).not.toBeChecked();
  if (javaScriptEnabled) {
    await page.getByRole("link", { name: "Show the current state" }).click();
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(flagSwitch).not.toBeChecked();
  }
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

for (const { answer, response, text } of [
  {
    answer: "of an overloaded server",
    response: { contentType: "application/problem+json", body: '{"code":"OVERLOADED"}' },
    text: "Unexpected answer. The change may have happened or not.",
  },
  {
    answer: "that does not know the outcome",
    response: { json: { code: "OutcomeUnknown", message: "The connection was lost." } },
    text: "Maybe not switched. The connection was lost. Show the current state",
  },
]) {
  test(`a switch explains the answer ${answer}`, { tag: "@scripts" }, async ({
    page,
    server,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 503/);
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("new_checkout", "New checkout");
    await signIn(page, server);
    await scriptsReady(page);
    await page.route("**/set-enabled", (route) => route.fulfill({ status: 503, ...response }));
    await page.getByRole("switch").click();
    await expect(page.getByRole("alert")).toContainText(text);
    await expect(page.getByRole("switch")).not.toBeChecked();
  });
}

for (const answer of ["that is lost", "that is out of date"] as const) {
  test(`a switch shows its current state after an answer ${answer}`, { tag: "@scripts" }, async ({
    page,
    server,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/ERR_FAILED/);
    const { flag, production } = await createCheckoutFlag(api);
    await api.switch(flag, production, false);
    await signIn(page, server);
    await page.goto(flagAddress);
    await scriptsReady(page);
    const { opened: switched, open: reportSwitched } = closedGate();
    const { opened, open } = closedGate();
    await page.route("**/set-enabled", async (route) => {
      const response = await route.fetch();
      reportSwitched();
      await opened;
      await (answer === "that is lost" ? route.abort() : route.fulfill({ response }));
    });
    const flagSwitch = page.getByRole("switch", { name: "New checkout in production" });
    await flagSwitch.click();
    // The focus is elsewhere, as after a click in Safari.
    await flagSwitch.blur();
    await switched;
    if (answer === "that is out of date") {
      await api.switch(flag, production, false);
    }
    await api.addRule(flag, production, country("DE", 1));
    // The page is up to date now, except for the switch, which waits for its answer.
    await expect(page.locator("#rules")).toContainText("is DE");
    open();
    await expect(page.locator(".toast")).toContainText(/No answer arrived|is on in production/);
    await expect(flagSwitch).toBeChecked({ checked: answer === "that is lost" });
  });
}
