import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { type Api, type Condition, type Environment, evaluate } from "./support/api.ts";
import { signIn, test } from "./support/test.ts";

const folder =
  process.env.PENNON_SCREENSHOTS ??
  fileURLToPath(new URL("../target/screenshots", import.meta.url));

/** The time in which the islands of a page hydrate, in milliseconds. */
const hydrationTime = 800;

/**
 * Creates the flags of a team after some months: some are on everywhere, some are being rolled out, and some are
 * forgotten.
 */
async function fill(
  api: Api,
): Promise<{ staging: Environment; production: Environment; rule: { id: string } }> {
  const [development, staging, production] = [
    await api.createEnvironment("Web shop", "development"),
    await api.createEnvironment("Web shop", "staging"),
    await api.createEnvironment("Web shop", "production"),
  ];
  const everywhere = [development, staging, production];
  const early = [development, staging];
  const germany: Condition = {
    attribute: "country",
    operator: "==",
    valueType: "string",
    valueString: "DE",
  };
  const largePlan: Condition = {
    attribute: "planLevel",
    operator: ">=",
    valueType: "number",
    valueInt: 3,
  };

  const banner = await api.createFlag("summer_banner", "Summer banner");
  await api.archive(banner);
  for (const [key, name, on] of [
    ["dark_mode", "Dark mode", everywhere],
    ["guest_checkout", "Guest checkout", everywhere],
    ["saved_baskets", "Saved baskets", everywhere],
    ["product_videos", "Product videos", early],
    ["gift_cards", "Gift cards", early],
    ["delivery_slots", "Delivery slots", [development]],
    ["recommendations_v3", "Recommendations, third attempt", [development]],
    ["return_portal", "Self-service returns", []],
  ] as const) {
    const flag = await api.createFlag(key, name);
    for (const environment of on) {
      await api.switch(flag, environment, true);
    }
  }

  const search = await api.createFlag("search_suggestions", "Search suggestions");
  const invoice = await api.createFlag("pay_by_invoice", "Pay by invoice");
  const checkout = await api.createFlag("checkout_v2", "New checkout", "Checkout in one page.");
  for (const environment of everywhere) {
    await api.switch(search, environment, true);
    await api.switch(invoice, environment, true);
    await api.switch(checkout, environment, true);
  }
  await api.setRollout(search, production, 50);
  await api.addRule(invoice, production, {
    priority: 1,
    logic: "and",
    value: true,
    conditions: [germany, largePlan],
  });
  await api.setRollout(invoice, production, 0);
  const rule = await api.addRule(checkout, production, {
    priority: 1,
    logic: "and",
    value: true,
    conditions: [germany, largePlan],
  });
  await api.addRule(checkout, production, {
    priority: 2,
    logic: "or",
    value: false,
    conditions: [
      { attribute: "email", operator: "!=", valueType: "string", valueString: "ana@example.com" },
      { attribute: "employee", operator: "==", valueType: "boolean", valueBool: true },
    ],
  });
  await api.addRule(checkout, staging, {
    priority: 1,
    logic: "or",
    value: false,
    conditions: [largePlan],
  });
  await api.setRollout(checkout, production, 25);
  await api.protect(production);
  return { staging, production, rule };
}

test("every page", async ({ page, server, api, browserErrors, viewport }, { project }) => {
  test.setTimeout(300_000);
  browserErrors.ignore(/status of 4\d\d/);
  const narrow = (viewport?.width ?? 0) < 900;
  const shoot = camera(page, project.name);

  await page.goto("/dashboard/login");
  await shoot("sign-in");
  await page.getByLabel("E-mail").fill(server.email);
  await page.getByLabel("Password").fill("a guess");
  await page.getByRole("button", { name: "Sign in" }).click();
  await shoot("sign-in-refused");
  await signIn(page, server);
  await shoot("flags-before-environments");
  await page.goto("/dashboard/environments");
  await shoot("environments-empty");
  await newEnvironment(page, "Web shop", "sandbox");
  await shoot("new-key");
  await page.goto("/dashboard/flags");
  await shoot("flags-empty");

  const { staging, production, rule } = await fill(api);
  await page.goto("/dashboard/flags");
  await shoot("flags");
  if (narrow) {
    await page.getByRole("button", { name: "Menu" }).click();
    await shoot("menu");
  }
  await page.getByRole("switch", { name: "Gift cards in staging" }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await shoot("flags-switched");
  await page.goto("/dashboard/flags");
  await page.waitForTimeout(hydrationTime);
  await page.getByRole("link", { name: "New flag" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("New checkout");
  await page.getByText(/is available|has this key/).waitFor();
  await shoot("flags-dialog");
  await page.goto("/dashboard/flags?stale=yes");
  await shoot("flags-stale");
  for (let user = 1; user <= 60; user++) {
    const country = user % 5 === 0 ? "DE" : "FR";
    const customAttributes = { planLevel: user % 4, employee: user % 7 === 0 };
    const context = { userId: `u-${user}`, country, customAttributes };
    await evaluate(server, production.sdkKey, "checkout_v2", context);
  }
  // The server writes its counts to the database when it stops.
  await server.restart();
  await page.goto("/dashboard/flags/checkout_v2/usage");
  await shoot("usage");
  await page.goto("/dashboard/flags?q=nothing");
  await shoot("flags-no-match");
  await page.goto("/dashboard/flags?state=archived");
  await shoot("flags-archived");
  const flag = "/dashboard/flags/checkout_v2";
  await page.goto(flag);
  await shoot("flag");
  for (const [name, query] of [
    ["details", "edit=details"],
    ["ttl", "edit=ttl"],
    ["new-rule", "edit=rule"],
    ["rule", `edit=rule&rule=${rule.id}`],
    ["delete-rule", `edit=delete-rule&rule=${rule.id}`],
    ["rollout", "edit=rollout"],
    ["recipe", "edit=recipe"],
    ["remove-rollout", "edit=remove-rollout"],
    ["copy", `edit=copy&to=${staging.id}`],
  ]) {
    await page.goto(`${flag}?${query}`);
    await page.waitForTimeout(hydrationTime);
    await shoot(`flag-${name}`);
  }
  await page.goto(flag);
  await page.waitForTimeout(hydrationTime);
  await page.getByRole("button", { name: "Move down" }).first().click();
  await shoot("flag-order");
  await page.goto(flag);
  await page.waitForTimeout(hydrationTime);
  await page.getByRole("switch").click();
  await shoot("flag-question");
  await page.goto(`${flag}?edit=rollout`);
  await page.waitForTimeout(hydrationTime);
  await page.getByLabel("Percentage", { exact: true }).fill("30");
  await page.getByRole("button", { name: "Save rollout" }).click();
  await shoot("flag-confirm");
  await page.goto(flag);
  await page.getByRole("button", { name: "Archive" }).click();
  await shoot("flag-still-on");
  await page.goto("/dashboard/flags/return_portal");
  await shoot("flag-off");
  await page.goto("/dashboard/flags/summer_banner");
  await shoot("flag-archived");
  await page.goto(`${flag}?userId=u-1042&country=DE&attribute=planLevel&type=number&value=2`);
  await page.waitForTimeout(hydrationTime);
  await shoot("flag-tried");
  await page.goto("/dashboard/try");
  await shoot("playground-empty");
  await page.goto("/dashboard/try?flag=checkout_v2&userId=u-1042&country=DE");
  await page.waitForTimeout(hydrationTime);
  await shoot("try");
  await page.goto("/dashboard/try?flag=checkout_v2&email=nobody");
  await page.waitForTimeout(hydrationTime);
  await shoot("playground-wrong");
  await page.goto("/dashboard/new-flag");
  await shoot("new-flag");
  await page.getByLabel("Name").fill("New checkout");
  await page.getByLabel("Key").fill("checkout_v2");
  await page.getByRole("button", { name: "Create flag" }).click();
  await shoot("new-flag-refused");
  await page.goto("/dashboard/environments");
  await shoot("environments");
  await page.getByRole("link", { name: "production" }).click();
  await page.getByText("Revoke environment…").click();
  await page.getByText("Next.js").first().click();
  await shoot("environment");
  await page.getByRole("link", { name: "Live evaluations" }).click();
  await shoot("live-evaluations-empty");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("region", { name: "Evaluations" }).getByText("Live.").waitFor();
  for (let user = 1; user <= 12; user++) {
    const country = user % 3 === 0 ? "DE" : "FR";
    const customAttributes = user % 2 === 0 ? {} : { planLevel: user % 5 };
    const context = { userId: `u-${user}`, country, customAttributes };
    const keys = ["checkout_v2", "search_suggestions", "pay_by_invoice", "return_portal"];
    await evaluate(server, production.sdkKey, keys[user % 4] ?? "", user === 5 ? {} : context);
  }
  await page.getByText("12 evaluations.").waitFor();
  await shoot("live-evaluations");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.goBack();
  await page.getByText("Revoke environment…").click();
  await page.getByLabel("Environment name").last().fill("staging");
  await page.getByRole("button", { name: "Revoke environment" }).click();
  await shoot("environment-refused");
  await page.goto("/dashboard/environments?status=revoked");
  await shoot("environments-none-revoked");
  await page.goto("/dashboard/audit");
  await shoot("audit");
  await page.goto("/dashboard/audit?flagKey=nothing");
  await shoot("audit-no-match");
  await page.goto("/dashboard/incident");
  await shoot("incident");
  await page.getByRole("link", { name: "Revert all of these" }).click();
  await shoot("incident-revert");
  await page.goto("/dashboard/flags/checkout_v2/history");
  await shoot("history");
  await page.getByRole("link", { name: "Revert" }).first().click();
  await shoot("revert");
  await page.goto("/dashboard/environments/new");
  await shoot("new-environment");
  await newEnvironment(page, "Web shop", "production");
  await shoot("new-environment-refused");
  await page.goto("/dashboard/nowhere");
  await shoot("not-found");

  await api.createEnvironment("Mobile app", "beta");
  await api.createEnvironment("Mobile app", "store");
  await page.goto("/dashboard/flags");
  await shoot("flags-two-products");
  await page.goto("/dashboard/flags?product=Web+shop");
  await shoot("flags-one-product");
  if (narrow) {
    await page.getByRole("button", { name: "Menu" }).click();
    await shoot("menu-one-product");
  }
  await page.goto("/dashboard/new-flag");
  await page.getByLabel("Only these products").check();
  await page.getByRole("button", { name: "Create flag" }).waitFor();
  await shoot("new-flag-products");
  await page.goto(`${flag}?edit=details`);
  await page.getByLabel("Only these products").check();
  await page.getByLabel("Mobile app", { exact: true }).check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Not saved.").waitFor();
  await shoot("flag-products-refused");
  await page.getByLabel("Switch it off there and save").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("list", { name: "Products" }).waitFor();
  await shoot("flag-products");
  await page.goto(`${flag}/history`);
  await shoot("history-products");
  await page.goto(`${flag}?product=Web+shop`);
  await shoot("flag-of-other-product");
  await page.getByRole("link", { name: "Show all products" }).click();
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Every product").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("list", { name: "Products" }).waitFor({ state: "detached" });
  for (let index = 1; index <= 35; index++) {
    await api.createEnvironment(
      `Product ${index % 4}`,
      `eu-central-${index} for the team of checkout`,
    );
  }
  await page.goto(`${flag}?environment=${staging.id}`);
  await shoot("flag-many-environments");
  await page.getByText(/^1 of \d+$/).click();
  await shoot("flag-many-environments-open");
});

test("public environments", async ({ page, server, api, browserErrors }, { project }) => {
  browserErrors.ignore(/status of 4\d\d/);
  const shoot = camera(page, project.name);
  await fill(api);
  await signIn(page, server);
  await page.goto("/dashboard/environments/new");
  await page.getByLabel("Public").check();
  await page.getByLabel("Product").fill("Web shop");
  await page.getByLabel("Name").fill("browser");
  await page.getByLabel("Answers").check();
  await shoot("new-environment-public");
  await page.getByRole("button", { name: "Create environment" }).click();
  await shoot("new-key-public");
  await page.getByRole("link", { name: "I have stored the key" }).click();
  await page.getByLabel("Full").check();
  await shoot("environment-public-to-full");
  const apps = await api.createPublicEnvironment("Web shop", "mobile app");
  const banner = await api.createPublicFlag("free_delivery", "Free delivery", "A banner.");
  await api.createPublicFlag("store_finder", "Store finder");
  await api.switch(banner, apps, true);
  await page.goto(`/dashboard/environments/${apps.id}`);
  await shoot("environment-public");
  await page.getByLabel("Answers").check();
  await shoot("environment-public-to-answers");
  await page.goto("/dashboard/environments");
  await shoot("environments-public");
  await page.goto("/dashboard/flags");
  await shoot("flags-public");
  await page.goto("/dashboard/flags/free_delivery");
  await page.waitForTimeout(hydrationTime);
  await shoot("flag-public");
  await page.goto("/dashboard/flags/free_delivery?edit=details");
  await page.getByLabel("Public").uncheck();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Not saved.").waitFor();
  await shoot("flag-public-refused");
  await page.getByLabel("Switch it off there and save").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
  await page.goto("/dashboard/flags/free_delivery/history");
  await shoot("history-public");
  await page.goto(`/dashboard/flags/free_delivery?environment=${apps.id}`);
  await shoot("flag-not-public");
  await page.goto("/dashboard/new-flag");
  await shoot("new-flag-public");
});

test("people, account and help", async ({ page, server, api, browserErrors }, { project }) => {
  browserErrors.ignore(/status of 4\d\d|Failed to load|ERR_/);
  const shoot = camera(page, project.name);
  await fill(api);
  await signIn(page, server);
  await page.goto("/dashboard/people");
  await shoot("people-alone");
  await api.createUser("ben@example.com", "viewer");
  const long = "maximilian.von-hohenstein-and-the-rest-of-the-family@payments.example.com";
  const maximilian = await api.createUser(long, "editor");
  await api.createTokenAs(maximilian, "deploy");
  await api.createTokenAs(
    maximilian,
    "A name as long as the name of a token may ever become: 64 chars",
  );
  const person = await api.createUser("cleo@example.com", "admin");
  await page.goto("/dashboard/people");
  await page.getByRole("combobox", { name: "Role of ben" }).selectOption("editor");
  await shoot("people");
  await page.getByRole("link", { name: long }).click();
  await shoot("person");
  await page.getByRole("button", { name: `Delete ${long}` }).click();
  await shoot("person-delete");
  await page.goto("/dashboard/people/new");
  await shoot("new-person");
  await page.getByLabel("E-mail").fill("dora@example.com");
  await page.getByRole("button", { name: "Invite" }).click();
  await shoot("new-person-password");

  await page.goto("/dashboard/account");
  await page.getByLabel("Name").fill("deploy");
  await page.getByRole("button", { name: "Create token" }).click();
  await shoot("new-token");
  await page.goto("/dashboard/account");
  await page.getByLabel("Current password").fill("a guess");
  await page.getByLabel("New password").fill("short");
  await page.getByRole("button", { name: "Change password" }).click();
  await shoot("account");
  await page.goto("/dashboard/help");
  await shoot("help");
  await page.keyboard.press("?");
  await shoot("help-dialog");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("e");
  await page.getByRole("option", { name: "checkout_v2" }).waitFor();
  await shoot("palette");

  await page.goto("/dashboard/people");
  await page.getByRole("combobox", { name: "Role of cleo" }).selectOption("editor");
  await api.setRole(person, "viewer");
  await page.getByText("while you were editing").waitFor();
  await shoot("overtaken");
  await page.goto("/dashboard/new-flag");
  await page.getByLabel("Name").fill("New checkout");
  await page.context().clearCookies();
  await page.getByLabel("Key").fill("checkout_v3");
  await page.getByRole("button", { name: "Create flag" }).click();
  await page.getByText("What you typed is kept").waitFor();
  await shoot("sign-in-interrupted");
  await signIn(page, server);
  await page.goto("/dashboard/flags");
  await page.getByRole("button", { name: "Jump to" }).waitFor();
  await server.stop();
  await page.getByText("Pennon cannot be reached").waitFor();
  await shoot("away");
});

/** Returns a function that takes a screenshot of the page under a name. */
function camera(page: Page, project: string): (name: string) => Promise<void> {
  return async (name) => {
    await page.screenshot({ path: join(folder, `${name}-${project}.png`), fullPage: true });
  };
}

async function newEnvironment(page: Page, product: string, name: string): Promise<void> {
  await page.goto("/dashboard/environments/new");
  await page.getByLabel("Product").fill(product);
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create environment" }).click();
}
