import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import {
  country,
  createCheckoutFlag,
  flagAddress,
  flagStatus,
  operand,
  ruleLines,
} from "../support/flag-page.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test("the list leads to a flag's page, which opens in production", async ({
  page,
  server,
  api,
}) => {
  const { staging } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.getByRole("link", { name: "New checkout" }).click();
  await expect(page).toHaveURL(flagAddress);
  await expect(page).toHaveTitle("checkout_v2 · Flags · Pennon");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New checkout");
  await expect(page.getByText("Checkout in one page.")).toBeVisible();
  await expect(flagStatus(page)).toHaveText("On for everyone in production", {
    useInnerText: true,
  });
  await expect(ruleLines(page)).toHaveText(["everyone is ON"]);

  const tabs = page.getByRole("navigation", { name: "Environments" });
  await expect(tabs.getByRole("link", { name: "production" })).toHaveAttribute(
    "aria-current",
    "page",
  );
  await tabs.getByRole("link", { name: "staging" }).click();
  await expect(page).toHaveURL(`${flagAddress}?environment=${staging.id}`);
  await expect(flagStatus(page)).toHaveText("On for everyone in staging", { useInnerText: true });
});

test("name and description can be edited in place", async ({ page, server, api }) => {
  await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(flagAddress);
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Name").fill("Checkout, second attempt");
  await page.getByLabel("Description").fill("One page.\nGoes in May.");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Checkout, second attempt");
  await expect(page.getByText("Goes in May.")).toBeVisible();
  await expect(page).toHaveURL(/flags\/checkout_v2\?environment=[^&]*$/);
});

test("the switch asks for confirmation only in a protected environment, and shows the effect", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, staging, production } = await createCheckoutFlag(api);
  await api.protect(production);
  await api.addRule(flag, production, country("DE", 1));
  await api.setRollout(flag, production, 25);
  await api.switch(flag, production, false);
  await signIn(page, server);
  await page.goto(flagAddress);
  const inProduction = page.getByRole("switch", { name: "New checkout in production" });
  await scriptsReady(page);
  await inProduction.click();
  const dialog = page.getByRole("dialog", { name: "Turn on New checkout in production?" });
  await expect(dialog).toContainText(
    "ON when country is DE; otherwise 25% of everyone left is ON, by userId; everyone else is OFF.",
  );
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(inProduction).not.toBeChecked();
  expect((await evaluate(server, production.sdkKey, "checkout_v2")).reason).toBe("flag_disabled");

  await inProduction.click();
  await dialog.getByRole("button", { name: "Turn on in production" }).click();
  await expect(dialog).toBeHidden();
  await expect(inProduction).toBeChecked();
  await expect(flagStatus(page)).toHaveText("On for some in production", { useInnerText: true });
  await expect
    .poll(() => evaluate(server, production.sdkKey, "checkout_v2", { country: "DE" }))
    .toEqual({ enabled: true, reason: "targeting_rule" });

  await page.goto(`${flagAddress}?environment=${staging.id}`);
  await scriptsReady(page);
  await page.getByRole("switch", { name: "New checkout in staging" }).click();
  await expect(flagStatus(page)).toHaveText("Off for everyone in staging", { useInnerText: true });
});

test("without scripts, the switch is a form, and a second form confirms it", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  test.skip(javaScriptEnabled, "With scripts it asks first, which has a test of its own.");
  const { production } = await createCheckoutFlag(api);
  await api.protect(production);
  await signIn(page, server);
  await page.goto(flagAddress);
  await page.getByRole("switch", { name: "New checkout in production" }).click();
  await page.getByRole("button", { name: "Turn off in production" }).click();
  await expect(flagStatus(page)).toHaveText("Off for everyone in production", {
    useInnerText: true,
  });
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });
});

test("a flag that is on cannot be archived; otherwise it can be archived and restored", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const { flag, staging, production } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(flagAddress);
  await page.getByRole("button", { name: "Archive" }).click();
  const refusal = page.getByRole("alert");
  await expect(refusal).toContainText("Not archived.");
  await expect(refusal.getByRole("link")).toHaveText(["staging", "production"]);
  await refusal.getByRole("link", { name: "staging" }).click();
  await expect(page).toHaveURL(`${flagAddress}?environment=${staging.id}`);

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

test("the TTL of a flag can be overridden and reset", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 400/);
  await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(flagAddress);
  await expect(page.getByText("60 s (default)")).toBeVisible();
  await page.getByRole("link", { name: "Change how long clients keep the flag" }).click();
  const seconds = page.getByLabel("TTL (time to live) in seconds");
  await seconds.fill("half an hour");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(seconds).toHaveAttribute("aria-invalid", "true");
  await expect(seconds).toHaveValue("half an hour");
  await seconds.fill("1800");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("for up to 30 min")).toBeVisible();

  await page.getByRole("link", { name: "Change how long clients keep the flag" }).click();
  await seconds.fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("for up to 60 s (default)")).toBeVisible();
});

test("the context of the playground is kept when the environment changes", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { staging } = await createCheckoutFlag(api);
  await signIn(page, server);
  // Right after a change, the page is requested again, which would put the context into its links.
  await page.route(`**${flagAddress}*`, async (route) => {
    if (route.request().resourceType() !== "fetch") {
      await route.fallback();
    }
  });
  await page.goto(flagAddress);
  await expect(page.getByText("Server and this browser agree.")).toBeVisible();
  await page.getByLabel("userId").fill("ada");
  await expect.poll(() => new URL(page.url()).searchParams.get("context")).toContain("ada");
  await page.getByRole("link", { name: /^staging/ }).click();
  await expect(page).toHaveURL(new RegExp(`environment=${staging.id}`));
  await expect(page.getByLabel("userId")).toHaveValue("ada");
});

test("the context of the playground is kept when a form is saved, until it is cleared", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { flag, staging, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.addRule(flag, production, country("AT", 2));
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${production.id}`);
  await expect(page.getByText("Server and this browser agree.")).toBeVisible();
  const user = page.getByLabel("userId");
  const context = () => new URL(page.url()).searchParams.get("context");
  await user.fill("ada");
  await expect.poll(context).toContain("ada");
  await page.getByRole("button", { name: "Move down" }).first().click();
  await page.getByRole("button", { name: "Save order" }).click();
  await expect(page.locator(".toast")).toBeVisible();
  await expect(page.getByText("Server and this browser agree.")).toBeVisible();
  await expect(user).toHaveValue("ada");

  await user.fill("");
  await expect.poll(context).toBe("{}");
  await page.getByRole("link", { name: /^staging/ }).click();
  await expect(page).toHaveURL(new RegExp(`environment=${staging.id}`));
  await expect(user).toHaveValue("");
});

test("copying a configuration shows the differences first", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const { flag, staging, production } = await createCheckoutFlag(api);
  await api.addRule(flag, staging, country("DE", 1));
  await api.setRollout(flag, staging, 25);
  await api.addRule(flag, production, country("AT", 1));
  await api.switch(flag, production, false);
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${staging.id}`);
  await page.getByRole("link", { name: "Copy to…" }).click();
  await page.getByLabel("Target environment").selectOption("production");
  await page.getByRole("button", { name: "Preview changes" }).click();
  const differences = page.locator(".differences li");
  await expect(differences).toHaveText([
    /Switch changed\s*OFF\s*ON/,
    /Rule changed\s*ON when country is AT\s*ON when country is DE/,
    /Rollout added\s*25% of users are ON, by userId/,
  ]);

  // Another change comes first, in the target and then in the source, so the differences are no longer the ones that
  // were shown.
  const copy = page.getByRole("button", { name: "Copy to production" });
  await api.switch(flag, production, true);
  await copy.click();
  await expect(page.getByRole("alert")).toContainText("Nothing was copied.");
  await expect(differences).toHaveCount(2);
  await api.setRollout(flag, staging, 30);
  await copy.click();
  await expect(differences.nth(1)).toContainText("30% of users are ON");
  await expect(page.getByRole("alert")).toContainText("Nothing was copied.");
  await copy.click();
  await expect(page).toHaveURL(`${flagAddress}?environment=${production.id}`);
  await expect(ruleLines(page)).toHaveText([
    "ON when country is DE",
    "30% of everyone left is ON, by userId",
    "everyone else is OFF",
  ]);

  await page.goto(`${flagAddress}?environment=${staging.id}&edit=copy&to=${production.id}`);
  await expect(page.getByText("nothing would change")).toBeVisible();
});

test("the context of the playground is kept after a copy to another environment", async ({
  page,
  server,
  api,
}) => {
  const { flag, staging, production } = await createCheckoutFlag(api);
  await api.switch(flag, production, false);
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${staging.id}&context={"userId":"ada"}`);
  await page.getByRole("link", { name: "Copy to…" }).click();
  await page.getByLabel("Target environment").selectOption("production");
  await page.getByRole("button", { name: "Preview changes" }).click();
  await page.getByRole("button", { name: "Copy to production" }).click();
  await expect(page).toHaveURL((url) => url.searchParams.get("environment") === production.id);
  await expect(page.getByRole("textbox", { name: "userId" })).toHaveValue("ada");
});

test("a viewer can see everything but cannot change anything", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 403/);
  const { flag, production } = await createCheckoutFlag(api);
  await api.addRule(flag, production, country("DE", 1));
  await api.setRollout(flag, production, 25);
  await signIn(page, await api.createUser("vera@example.com", "viewer"));
  await page.goto(`${flagAddress}?edit=rollout`);
  await expect(ruleLines(page)).toHaveText([
    "ON when country is DE",
    "25% of everyone left is ON, by userId",
    "everyone else is OFF",
  ]);
  await expect(page.getByRole("switch")).toBeDisabled();
  const main = page.getByRole("main");
  await expect(main.getByRole("button", { name: /Archive|Save|Move|Delete/ })).toHaveCount(0);
  await expect(
    main.getByRole("link", { name: /Edit|Add|Change|Copy to|Delete|Remove/ }),
  ).toHaveCount(0);

  // The server also rejects actions that the page does not offer.
  const refused = await page.request.post(flagAddress, {
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

test("hostile text is escaped everywhere on the page", async ({ page, server, api }) => {
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
    await page.goto(`${flagAddress}?environment=${staging.id}${query}`);
    await expect(page).toHaveTitle("checkout_v2 · Flags · Pennon");
    await expect(page.locator("main img, main i, main u, main script:not([type])")).toHaveCount(0);
  }
  await page.goto(`${flagAddress}?environment=${staging.id}&edit=details`);
  await expect(page.getByLabel("Description")).toHaveValue(hostile);
  await page.goto(`${flagAddress}?environment=${staging.id}&edit=rule&rule=${rule.id}`);
  await expect(page.getByLabel("Attribute")).toHaveValue(hostile);
  await expect(operand(page)).toHaveValue(`"${hostile}`);
});

test("forty environments with long names fit on the page", async ({ page, server, api }) => {
  test.slow();
  const name = (index: number) =>
    `${"a very long name for an environment, by any measure ".padEnd(60, "x")} ${index}`;
  for (let index = 0; index < 40; index++) {
    await api.createEnvironment(`Product ${index % 3}`, name(index).slice(-64));
  }
  await api.createFlag("checkout_v2", "New checkout ".repeat(15).trim());
  await signIn(page, server);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(flagAddress);
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await width()).toBeLessThanOrEqual(390);
  const environments = page.getByRole("navigation", { name: "Environments" });
  await environments.getByText("1 of 40").click();
  await expect(environments.getByRole("link")).toHaveCount(40);
  expect(await width()).toBeLessThanOrEqual(390);
  await environments.getByRole("link").nth(30).click();
  await expect(page).toHaveURL(/environment=/);
  await expect(environments.getByText("31 of 40")).toBeVisible();

  const { key } = await api.createFlag("k".repeat(64), "A flag with a long key");
  for (const more of ["usage", "compare"]) {
    await page.goto(`/dashboard/flags/${key}/${more}`);
    expect(await width()).toBeLessThanOrEqual(390);
  }
});

test("a key or an environment that does not exist is not found", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 404/);
  await createCheckoutFlag(api);
  await signIn(page, server);
  for (const nowhere of [
    "/dashboard/flags/nothing",
    `${flagAddress}?environment=01a1fa8d-1ad7-7000-be8e-25c8e4232ff5`,
  ]) {
    const answer = await page.goto(nowhere);
    expect(answer?.status()).toBe(404);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Not found");
  }
});

test("a flag whose key is also a path segment has a page", async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new", "Novelties");
  await signIn(page, server);
  await page.goto("/dashboard/flags");
  await page.getByRole("link", { name: "Novelties" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Novelties");
});
