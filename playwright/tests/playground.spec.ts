import type { Page } from "@playwright/test";
import type { Api, Condition, Environment, Flag } from "../support/api.ts";
import { closedGate, hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

const germany: Condition = {
  attribute: "country",
  operator: "==",
  valueType: "string",
  valueString: "DE",
};
const large: Condition = {
  attribute: "seats",
  operator: ">",
  valueType: "number",
  valueInt: 10,
};

/** Creates a flag that is on in Germany for more than 10 seats, and otherwise for buckets below 64. */
async function checkout(api: Api): Promise<{ production: Environment; flag: Flag }> {
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.switch(flag, production, true);
  const conditions = [germany, large];
  await api.addRule(flag, production, { priority: 1, logic: "and", value: true, conditions });
  await api.setRollout(flag, production, 64);
  return { production, flag };
}

const answer = (page: Page) => page.locator("#playground-answer");

test("a flag is evaluated for a user, and every step is explained", async ({
  page,
  server,
  api,
}) => {
  await checkout(api);
  await signIn(page, server);
  await page.getByRole("link", { name: "Try it" }).click();
  await page.getByLabel("Flag").fill("new_checkout");
  await page.getByRole("button", { name: "Choose" }).click();
  await expect(answer(page)).toContainText("The rollout needs a userId, which is not given.");

  // The bucket of "linus" is 72.
  await page.getByLabel("userId").fill("linus");
  await page.getByLabel("country").fill("DE");
  await page.getByLabel("Attribute name").first().fill("seats");
  await page.getByLabel("Attribute type").first().selectOption("number");
  await page.getByLabel("Attribute value").first().fill("3");
  await page.getByRole("button", { name: "Try it" }).click();
  await expect(answer(page)).toContainText("its bucket, 72, is not below 64");
  const steps = answer(page).getByRole("list").first().locator("> li");
  await expect(steps).toHaveCount(3);
  await expect(steps.nth(1)).toContainText("country is “DE”");
  await expect(steps.nth(1)).toContainText("seats is 3");
  await expect(steps.nth(0)).toContainText("passed");
  await expect(steps.nth(1)).toContainText("no match");
  await expect(steps.nth(2)).toContainText("decides");

  await page.getByLabel("Attribute value").first().fill("12");
  await page.getByRole("button", { name: "Try it" }).click();
  await expect(answer(page)).toContainText("Rule 1 matches.");
  await expect(page.getByLabel("country")).toHaveValue("DE");
});

test("the form and the JSON show the same context, and errors are shown", async ({
  page,
  server,
  api,
}) => {
  const { production } = await checkout(api);
  await signIn(page, server);
  const flag = `flag=new_checkout&environment=${production.id}`;
  await page.goto(`/dashboard/try?${flag}&userId=ada&attribute=seats&type=number&value=12`);
  await page.getByRole("button", { name: "Show as JSON" }).click();
  const json = page.getByLabel("Context as JSON");
  expect(JSON.parse(await json.inputValue())).toEqual({
    userId: "ada",
    customAttributes: { seats: 12 },
  });
  await json.fill('{"userId": "linus", "email": "nobody"}');
  await page.getByRole("button", { name: "Try it" }).click();
  await expect(answer(page)).toContainText("email must be an e-mail address.");
  await expect(json).toHaveValue('{"userId": "linus", "email": "nobody"}');
  await json.fill('{"userId": "linus"}');
  await page.getByRole("button", { name: "Show as a form" }).click();
  await expect(page.getByLabel("userId")).toHaveValue("linus");
  await expect(answer(page)).toContainText("OFF");
});

test("invalid input is neither lost nor changed", async ({ page, server, api }) => {
  const { production } = await checkout(api);
  await signIn(page, server);
  const flag = `flag=new_checkout&environment=${production.id}`;
  await page.goto(`/dashboard/try?${flag}&userId=ada&attribute=seats&type=number&value=many`);
  await page.getByRole("button", { name: "Show as JSON" }).click();
  await expect(answer(page)).toContainText("seats must be a number.");
  await expect(page.getByLabel("Attribute value").first()).toHaveValue("many");
  await page.getByLabel("Attribute value").first().fill("12");
  await page.getByRole("button", { name: "Show as JSON" }).click();
  const json = page.getByLabel("Context as JSON");
  await json.fill('{"userId": "linus"');
  await page.getByRole("button", { name: "Show as a form" }).click();
  await expect(answer(page)).toContainText("This is not valid JSON");
  await expect(json).toHaveValue('{"userId": "linus"');
});

test("the chosen environment is kept after a change", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { production, flag } = await checkout(api);
  const staging = await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await page.goto(`/dashboard/try?flag=new_checkout&environment=${production.id}`);
  await expect(page.getByText("Server and this browser agree.")).toBeVisible();
  await scriptsReady(page);
  const places = page.getByLabel("Environment");
  await expect(places.locator("option")).toHaveText(["production", "staging"]);
  await places.selectOption("staging");
  await api.switch(flag, production, false);
  await expect(answer(page)).toContainText("switched off");
  await expect(places).toHaveValue(staging.id);
});

test("the result follows the input, and server and browser agree", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { production, flag } = await checkout(api);
  await signIn(page, server);
  await page.goto(`/dashboard/try?flag=new_checkout&environment=${production.id}`);
  await expect(page.getByText("Server and this browser agree.")).toBeVisible();
  await expect(page).not.toHaveURL(/context=/);
  const entries = await page.evaluate(() => history.length);
  await page.getByLabel("email").fill("nobody");
  await expect(page.getByText("Fix the context to see the result.")).toBeVisible();
  await expect(page.getByText("Evaluating …")).toBeHidden();
  await page.getByLabel("email").fill("a&b@example.com");
  await page.getByLabel("userId").fill("ada");
  await expect(answer(page)).toContainText("its bucket, 63, is below 64");
  await expect(page.getByText("Server and this browser agree.")).toBeVisible();

  // The address contains the context, so that it can be sent to others.
  await expect.poll(() => new URL(page.url()).searchParams.get("context")).toContain("ada");
  expect(await page.evaluate(() => history.length)).toBe(entries);
  await page.reload();
  await expect(page.getByLabel("userId")).toHaveValue("ada");
  await expect(page.getByLabel("email")).toHaveValue("a&b@example.com");

  await api.switch(flag, production, false);
  await page.getByLabel("country").fill("FR");
  await expect(answer(page)).toContainText("switched off");
  await expect(page.getByText("Server and this browser agree.")).toBeVisible();
});

test("a disagreement between server and browser is reported", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { production } = await checkout(api);
  await signIn(page, server);
  await page.goto(`/dashboard/try?flag=new_checkout&environment=${production.id}`);
  await expect(page.getByText("Server and this browser agree.")).toBeVisible();
  await page.route("**/dashboard/api/try", async (route) => {
    const answer = await route.fetch();
    const tried = await answer.json();
    tried.served.verdict = tried.served.verdict.replace("ON", "OFF");
    await route.fulfill({ response: answer, json: tried });
  });
  await page.getByLabel("userId").fill("ada");
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("Server and this browser disagree.");
  await expect(alert).toContainText("The server's result: “rollout: OFF");
});

test("a result counts only for the latest input, and a failure is reported until the next one", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/net::ERR_FAILED/);
  const { production } = await checkout(api);
  await signIn(page, server);
  await page.goto(`/dashboard/try?flag=new_checkout&environment=${production.id}`);
  const agreement = page.getByText("Server and this browser agree.");
  await expect(agreement).toBeVisible();
  const time = Date.now();
  await page.clock.install({ time });
  await page.clock.pauseAt(time + 30_000);
  const { opened, open } = closedGate();
  await page.route("**/dashboard/api/try", async (route) => {
    const fields = route.request().postData() ?? "";
    if (fields.includes("userId%3Dada")) {
      await opened;
    }
    await (fields.includes("grace") ? route.abort() : route.fallback());
  });
  const user = page.getByLabel("userId");
  const request = page.waitForRequest((sent) => sent.postData()?.includes("userId%3Dada") === true);
  await user.fill("ada");
  await page.clock.runFor(200);
  const late = (await request).response();
  await user.fill("linus");
  open();
  await (await late)?.finished();
  await page.evaluate(async () => (await fetch("/dashboard/help")).text());
  // The request for the last input has not been sent yet.
  expect(await page.locator(".agreement").textContent()).toBe("Evaluating …");
  expect(await page.locator("[data-unsaved]").count()).toBe(1);
  await page.clock.resume();
  await expect(answer(page)).toContainText("its bucket, 72, is not below 64");
  await expect(page.locator("[data-unsaved]")).toHaveCount(0);

  await user.fill("grace");
  await expect(page.getByRole("alert")).toContainText("Pennon responded unexpectedly.");
  await user.fill("linus");
  await expect(agreement).toBeVisible();

  // The address does not contain an invalid context.
  await page.getByLabel("email").fill("nobody");
  await expect(page.getByText("Fix the context to see the result.")).toBeVisible();
  await expect(page.locator("[data-unsaved]")).toBeAttached();
});

test("an unknown flag is reported", async ({ page, server, api }) => {
  await checkout(api);
  await signIn(page, server);
  await page.goto("/dashboard/try?flag=%3Cb%3Enone");
  await expect(page.getByText("No flag has the key <b>none.")).toBeVisible();
});

test("a context typed before hydration is evaluated", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { production } = await checkout(api);
  await signIn(page, server);
  const hydrate = await hold(page, "**/*.wasm");
  const trial = `/dashboard/try?flag=new_checkout&environment=${production.id}`;
  await page.goto(trial, { waitUntil: "commit" });
  await page.getByLabel("email").fill("nobody");
  await expect(page.getByText("Fix the context to see the result.")).toBeHidden();
  hydrate();
  await expect(page.getByText("Fix the context to see the result.")).toBeVisible();

  const hydrateAgain = await hold(page, "**/*.wasm");
  await page.goto(`${trial}&show=json`, { waitUntil: "commit" });
  await page.getByLabel("Context as JSON").fill("{");
  hydrateAgain();
  await expect(page.getByText("This is not valid JSON")).toBeVisible();
});
