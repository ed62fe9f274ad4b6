import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page, TestInfo } from "@playwright/test";
import {
  type Api,
  type Condition,
  type Environment,
  evaluate,
  type Flag,
  type User,
} from "./support/api.ts";
import type { Server } from "./support/server.ts";
import { expect, signIn, test } from "./support/test.ts";

const folder =
  process.env.PENNON_SCREENSHOTS ??
  fileURLToPath(new URL("../target/screenshots", import.meta.url));

/** The page of the flag with rules. */
const checkout = "/dashboard/flags/checkout_v2";

test("every page", async ({ page, server, api, browserErrors }, { project }) => {
  test.setTimeout(300_000);
  browserErrors.ignore(/status of 4\d\d/);
  const tour = new Tour(page, project);
  await showFirstPages(tour, server);
  const team = await fill(api);
  await showFlags(tour);
  await showUsage(tour, server, team);
  await showFlagForms(tour, team);
  await showFlagQuestions(tour);
  await showPlayground(tour);
  await showNewFlag(tour);
  await showEnvironment(tour, server, team);
  await showAudit(tour);
  await showNewEnvironment(tour);
  await tour.visit("not-found", "/dashboard/nowhere");
  await showProducts(tour, api);
  await showProductsOfFlag(tour);
  await showManyEnvironments(tour, api, team);
});

test("public environments", async ({ page, server, api, browserErrors }, { project }) => {
  browserErrors.ignore(/status of 4\d\d/);
  const tour = new Tour(page, project);
  await fill(api);
  await signIn(page, server);
  await showNewPublicEnvironment(tour);
  const apps = await api.createPublicEnvironment("Web shop", "mobile app");
  const banner = await api.createPublicFlag("free_delivery", "Free delivery", "A banner.");
  await api.createPublicFlag("store_finder", "Store finder");
  await api.switch(banner, apps, true);
  await showPublicEnvironment(tour, apps);
  await showPublicFlag(tour, apps);
});

test("people, account and help", async ({ page, server, api, browserErrors }, { project }) => {
  browserErrors.ignore(/status of 4\d\d|Failed to load|ERR_/);
  const tour = new Tour(page, project);
  await fill(api);
  await signIn(page, server);
  const cleo = await showPeople(tour, api);
  await showAccount(tour);
  await showHelp(tour);
  await showInterruptions(tour, server, api, cleo);
});

/** Screenshots of the page at one size and in one theme. */
class Tour {
  readonly page: Page;
  readonly #project: TestInfo["project"];

  constructor(page: Page, project: TestInfo["project"]) {
    this.page = page;
    this.#project = project;
  }

  get isNarrow(): boolean {
    return (this.page.viewportSize()?.width ?? 0) < 900;
  }

  /** Opens a page with scripts, and waits until its islands are hydrated. */
  async open(path: string): Promise<void> {
    await this.page.goto(path);
    await expect(this.page.locator(":root[data-hydrated]")).toBeAttached();
  }

  /** Takes a screenshot of the current page under a name. */
  async shoot(name: string): Promise<void> {
    const path = join(folder, `${name}-${this.#project.name}.png`);
    await this.page.screenshot({ path, fullPage: true });
  }

  /** Takes a screenshot of the page at a path. */
  async visit(name: string, path: string): Promise<void> {
    await this.open(path);
    await this.shoot(name);
  }

  /** Takes a screenshot of the open menu, which only narrow pages have. */
  async shootMenu(name: string): Promise<void> {
    if (this.isNarrow) {
      await this.page.getByRole("button", { name: "Menu" }).click();
      await this.shoot(name);
    }
  }
}

/** The environments of a team, and a rule of its flag `checkout_v2` in production. */
type Team = {
  readonly staging: Environment;
  readonly production: Environment;
  readonly rule: { readonly id: string };
};

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

/**
 * Creates the flags of a team after some months: some are on everywhere, some are being rolled out, and some are
 * forgotten.
 */
async function fill(api: Api): Promise<Team> {
  const development = await api.createEnvironment("Web shop", "development");
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  await createSimpleFlags(api, [development, staging, production]);

  const search = await api.createFlag("search_suggestions", "Search suggestions");
  const invoice = await api.createFlag("pay_by_invoice", "Pay by invoice");
  const checkout = await api.createFlag("checkout_v2", "New checkout", "Checkout in one page.");
  for (const environment of [development, staging, production]) {
    for (const flag of [search, invoice, checkout]) {
      await api.switch(flag, environment, true);
    }
  }
  await api.setRollout(search, production, 50);
  await api.addRule(invoice, production, {
    priority: 1,
    logic: "and",
    value: true,
    conditions: [germany, largePlan],
  });
  await api.setRollout(invoice, production, 0);
  const rule = await configureCheckout(api, checkout, staging, production);
  await api.protect(production);
  return { staging, production, rule };
}

/** Creates flags without rules. Each is on in the first environments, and one is archived. */
async function createSimpleFlags(api: Api, environments: readonly Environment[]): Promise<void> {
  const banner = await api.createFlag("summer_banner", "Summer banner");
  await api.archive(banner);
  for (const [key, name, count] of [
    ["dark_mode", "Dark mode", 3],
    ["guest_checkout", "Guest checkout", 3],
    ["saved_baskets", "Saved baskets", 3],
    ["product_videos", "Product videos", 2],
    ["gift_cards", "Gift cards", 2],
    ["delivery_slots", "Delivery slots", 1],
    ["recommendations_v3", "Recommendations, third attempt", 1],
    ["return_portal", "Self-service returns", 0],
  ] as const) {
    const flag = await api.createFlag(key, name);
    for (const environment of environments.slice(0, count)) {
      await api.switch(flag, environment, true);
    }
  }
}

/** Adds rules and a rollout to a flag. Returns its first rule in production. */
async function configureCheckout(
  api: Api,
  flag: Flag,
  staging: Environment,
  production: Environment,
): Promise<{ id: string }> {
  const rule = await api.addRule(flag, production, {
    priority: 1,
    logic: "and",
    value: true,
    conditions: [germany, largePlan],
  });
  await api.addRule(flag, production, {
    priority: 2,
    logic: "or",
    value: false,
    conditions: [
      { attribute: "email", operator: "!=", valueType: "string", valueString: "ana@example.com" },
      { attribute: "employee", operator: "==", valueType: "boolean", valueBool: true },
    ],
  });
  await api.addRule(flag, staging, {
    priority: 1,
    logic: "or",
    value: false,
    conditions: [largePlan],
  });
  await api.setRollout(flag, production, 25);
  return rule;
}

async function showFirstPages(tour: Tour, server: Server): Promise<void> {
  const { page } = tour;
  await page.goto("/dashboard/login");
  await tour.shoot("sign-in");
  await page.getByLabel("E-mail").fill(server.email);
  await page.getByLabel("Password").fill("a guess");
  await page.getByRole("button", { name: "Sign in" }).click();
  await tour.shoot("sign-in-refused");
  await signIn(page, server);
  await tour.shoot("flags-before-environments");
  await tour.visit("environments-empty", "/dashboard/environments");
  await createEnvironment(tour, "Web shop", "sandbox");
  await tour.shoot("new-key");
  await tour.visit("flags-empty", "/dashboard/flags");
}

async function showFlags(tour: Tour): Promise<void> {
  const { page } = tour;
  await tour.visit("flags", "/dashboard/flags");
  await tour.shootMenu("menu");
  const giftCards = page.getByRole("row", { name: "Gift cards" });
  if (tour.isNarrow) {
    await giftCards.getByText("3 more environments").click();
  }
  await giftCards.getByRole("switch", { name: "Gift cards in staging" }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await tour.shoot("flags-switched");
  await tour.open("/dashboard/flags");
  await page.getByRole("link", { name: "New flag" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("New checkout");
  await page.getByText(/is available|has this key/).waitFor();
  await tour.shoot("flags-dialog");
  await tour.visit("flags-stale", "/dashboard/flags?stale=yes");
  await tour.visit("flags-no-match", "/dashboard/flags?q=nothing");
  await tour.visit("flags-archived", "/dashboard/flags?state=archived");
}

async function showUsage(tour: Tour, server: Server, { production }: Team): Promise<void> {
  for (let user = 1; user <= 60; user++) {
    const country = user % 5 === 0 ? "DE" : "FR";
    const customAttributes = { planLevel: user % 4, employee: user % 7 === 0 };
    const context = { userId: `u-${user}`, country, customAttributes };
    await evaluate(server, production.sdkKey, "checkout_v2", context);
  }
  // The server writes its counts to the database when it stops.
  await server.restart();
  await tour.visit("usage", `${checkout}/usage`);
}

async function showFlagForms(tour: Tour, { staging, rule }: Team): Promise<void> {
  await tour.visit("flag", checkout);
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
    await tour.visit(`flag-${name}`, `${checkout}?${query}`);
  }
}

async function showFlagQuestions(tour: Tour): Promise<void> {
  const { page } = tour;
  await tour.open(checkout);
  await page.getByRole("button", { name: "Move down" }).first().click();
  await tour.shoot("flag-order");
  await tour.open(checkout);
  await page.getByRole("switch").click();
  await tour.shoot("flag-question");
  await tour.open(`${checkout}?edit=rollout`);
  await page.getByLabel("Percentage", { exact: true }).fill("30");
  await page.getByRole("button", { name: "Save rollout" }).click();
  await tour.shoot("flag-confirm");
  await tour.open(checkout);
  await page.getByRole("button", { name: "Archive" }).click();
  await tour.shoot("flag-still-on");
  await tour.visit("flag-off", "/dashboard/flags/return_portal");
  await tour.visit("flag-archived", "/dashboard/flags/summer_banner");
}

async function showPlayground(tour: Tour): Promise<void> {
  const context = "userId=u-1042&country=DE";
  await tour.visit("flag-tried", `${checkout}?${context}&attribute=planLevel&type=number&value=2`);
  await tour.visit("playground-empty", "/dashboard/try");
  await tour.visit("try", `/dashboard/try?flag=checkout_v2&${context}`);
  await tour.visit("playground-wrong", "/dashboard/try?flag=checkout_v2&email=nobody");
}

async function showNewFlag(tour: Tour): Promise<void> {
  const { page } = tour;
  await tour.visit("new-flag", "/dashboard/new-flag");
  await page.getByLabel("Name").fill("New checkout");
  await page.getByLabel("Key").fill("checkout_v2");
  await page.getByRole("button", { name: "Create flag" }).click();
  await tour.shoot("new-flag-refused");
}

async function showEnvironment(tour: Tour, server: Server, team: Team): Promise<void> {
  const { page } = tour;
  await tour.visit("environments", "/dashboard/environments");
  await page.getByRole("link", { name: "production" }).click();
  await page.getByText("Revoke environment…").click();
  await page.getByText("Next.js").first().click();
  await tour.shoot("environment");
  await page.getByRole("link", { name: "Live evaluations" }).click();
  await showLiveEvaluations(tour, server, team);
  await page.goBack();
  await page.getByText("Revoke environment…").click();
  await page.getByLabel("Environment name").last().fill("staging");
  await page.getByRole("button", { name: "Revoke environment" }).click();
  await tour.shoot("environment-refused");
  await tour.visit("environments-none-revoked", "/dashboard/environments?status=revoked");
}

async function showLiveEvaluations(tour: Tour, server: Server, team: Team): Promise<void> {
  const { page } = tour;
  await tour.shoot("live-evaluations-empty");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("region", { name: "Evaluations" }).getByText("Live.").waitFor();
  const keys = ["checkout_v2", "search_suggestions", "pay_by_invoice", "return_portal"];
  for (let user = 1; user <= 12; user++) {
    const country = user % 3 === 0 ? "DE" : "FR";
    const customAttributes = user % 2 === 0 ? {} : { planLevel: user % 5 };
    const context = user === 5 ? {} : { userId: `u-${user}`, country, customAttributes };
    await evaluate(server, team.production.sdkKey, keys[user % 4] ?? "", context);
  }
  await page.getByText("12 evaluations.").waitFor();
  await tour.shoot("live-evaluations");
  await page.getByRole("button", { name: "Stop" }).click();
}

async function showAudit(tour: Tour): Promise<void> {
  const { page } = tour;
  await tour.visit("audit", "/dashboard/audit");
  await tour.visit("audit-no-match", "/dashboard/audit?flagKey=nothing");
  await tour.visit("incident", "/dashboard/incident");
  await page.getByRole("link", { name: "Revert all of these" }).click();
  await tour.shoot("incident-revert");
  await tour.visit("history", `${checkout}/history`);
  await page.getByRole("link", { name: "Revert" }).first().click();
  await tour.shoot("revert");
}

async function showNewEnvironment(tour: Tour): Promise<void> {
  await tour.visit("new-environment", "/dashboard/environments/new");
  await createEnvironment(tour, "Web shop", "production");
  await tour.shoot("new-environment-refused");
}

async function showProducts(tour: Tour, api: Api): Promise<void> {
  const { page } = tour;
  await api.createEnvironment("Mobile app", "beta");
  await api.createEnvironment("Mobile app", "store");
  await tour.visit("flags-two-products", "/dashboard/flags");
  await tour.visit("flags-one-product", "/dashboard/flags?product=Web+shop");
  await tour.shootMenu("menu-one-product");
  await tour.open("/dashboard/new-flag");
  await page.getByLabel("Only these products").check();
  await page.getByRole("button", { name: "Create flag" }).waitFor();
  await tour.shoot("new-flag-products");
}

async function showProductsOfFlag(tour: Tour): Promise<void> {
  const { page } = tour;
  const save = page.getByRole("button", { name: "Save", exact: true });
  // The flag leaves a protected environment, and comes back.
  const confirm = page.getByRole("button", { name: "Change the details of checkout_v2" });
  await tour.open(`${checkout}?edit=details`);
  await page.getByLabel("Only these products").check();
  await page.getByLabel("Mobile app", { exact: true }).check();
  await save.click();
  await page.getByText("Not saved.").waitFor();
  await tour.shoot("flag-products-refused");
  await page.getByLabel("Switch it off there and save").check();
  await save.click();
  await confirm.click();
  await page.getByRole("list", { name: "Products" }).waitFor();
  await tour.shoot("flag-products");
  await tour.visit("history-products", `${checkout}/history`);
  await tour.visit("flag-of-other-product", `${checkout}?product=Web+shop`);
  await page.getByRole("link", { name: "Show all products" }).click();
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Every product").check();
  await save.click();
  await confirm.click();
  await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
}

async function showManyEnvironments(tour: Tour, api: Api, { staging }: Team): Promise<void> {
  for (let index = 1; index <= 35; index++) {
    await api.createEnvironment(
      `Product ${index % 4}`,
      `eu-central-${index} for the team of checkout`,
    );
  }
  await tour.visit("flag-many-environments", `${checkout}?environment=${staging.id}`);
  await tour.page.getByText(/^\d+ of \d+$/).click();
  await tour.shoot("flag-many-environments-open");
}

async function showNewPublicEnvironment(tour: Tour): Promise<void> {
  const { page } = tour;
  await tour.open("/dashboard/environments/new");
  await page.getByLabel("Public").check();
  await page.getByLabel("Product").fill("Web shop");
  await page.getByLabel("Name").fill("browser");
  await page.getByLabel("Answers").check();
  await tour.shoot("new-environment-public");
  await page.getByRole("button", { name: "Create environment" }).click();
  await tour.shoot("new-key-public");
  await page.getByRole("link", { name: "I have stored the key" }).click();
  await page.getByLabel("Full").check();
  await tour.shoot("environment-public-to-full");
}

async function showPublicEnvironment(tour: Tour, { id }: Environment): Promise<void> {
  await tour.visit("environment-public", `/dashboard/environments/${id}`);
  await tour.page.getByLabel("Answers").check();
  await tour.shoot("environment-public-to-answers");
  await tour.visit("environments-public", "/dashboard/environments");
  await tour.visit("flags-public", "/dashboard/flags");
}

async function showPublicFlag(tour: Tour, { id }: Environment): Promise<void> {
  const { page } = tour;
  const flag = "/dashboard/flags/free_delivery";
  await tour.visit("flag-public", flag);
  await tour.open(`${flag}?edit=details`);
  await page.getByLabel("Public").uncheck();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Not saved.").waitFor();
  await tour.shoot("flag-public-refused");
  await page.getByLabel("Switch it off there and save").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
  await tour.visit("history-public", `${flag}/history`);
  await tour.visit("flag-not-public", `${flag}?environment=${id}`);
  await tour.visit("new-flag-public", "/dashboard/new-flag");
}

/** Returns one of the people. */
async function showPeople(tour: Tour, api: Api): Promise<User> {
  const { page } = tour;
  await tour.visit("people-alone", "/dashboard/people");
  await api.createUser("ben@example.com", "viewer");
  const long = "maximilian.von-hohenstein-and-the-rest-of-the-family@payments.example.com";
  const maximilian = await api.createUser(long, "editor");
  await api.createTokenAs(maximilian, "deploy");
  const longest = "A name as long as the name of a token may ever become: 64 chars";
  await api.createTokenAs(maximilian, longest);
  const cleo = await api.createUser("cleo@example.com", "admin");
  await tour.open("/dashboard/people");
  await page.getByRole("combobox", { name: "Role of ben" }).selectOption("editor");
  await tour.shoot("people");
  await page.getByRole("link", { name: long }).click();
  await tour.shoot("person");
  await page.getByRole("button", { name: `Delete ${long}` }).click();
  await tour.shoot("person-delete");
  await tour.visit("new-person", "/dashboard/people/new");
  await page.getByLabel("E-mail").fill("dora@example.com");
  await page.getByRole("button", { name: "Invite" }).click();
  await tour.shoot("new-person-password");
  return cleo;
}

async function showAccount(tour: Tour): Promise<void> {
  const { page } = tour;
  await tour.open("/dashboard/account");
  await page.getByLabel("Name").fill("deploy");
  await page.getByRole("button", { name: "Create token" }).click();
  await tour.shoot("new-token");
  await tour.open("/dashboard/account");
  await page.getByLabel("Current password").fill("a guess");
  await page.getByLabel("New password").fill("short");
  await page.getByRole("button", { name: "Change password" }).click();
  await tour.shoot("account");
}

async function showHelp(tour: Tour): Promise<void> {
  const { page } = tour;
  await tour.visit("help", "/dashboard/help");
  await page.keyboard.press("?");
  await tour.shoot("help-dialog");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("e");
  await page.getByRole("option", { name: "checkout_v2" }).waitFor();
  await tour.shoot("palette");
}

/** Shows a change of a person by somebody else, the end of the session, and the end of the server. */
async function showInterruptions(
  tour: Tour,
  server: Server,
  api: Api,
  person: User,
): Promise<void> {
  const { page } = tour;
  await tour.open("/dashboard/people");
  await page.getByRole("combobox", { name: "Role of cleo" }).selectOption("editor");
  await api.setRole(person, "viewer");
  await page.getByText("while you were editing").waitFor();
  await tour.shoot("overtaken");
  await tour.open("/dashboard/new-flag");
  await page.getByLabel("Name").fill("New checkout");
  await page.context().clearCookies();
  await page.getByLabel("Key").fill("checkout_v3");
  await page.getByRole("button", { name: "Create flag" }).click();
  await page.getByText("What you typed is kept").waitFor();
  await tour.shoot("sign-in-interrupted");
  await signIn(page, server);
  await tour.open("/dashboard/flags");
  await server.stop();
  await page.getByText("Pennon cannot be reached").waitFor();
  await tour.shoot("away");
}

/** Submits the form of a new environment. */
async function createEnvironment(tour: Tour, product: string, name: string): Promise<void> {
  const { page } = tour;
  await tour.open("/dashboard/environments/new");
  await page.getByLabel("Product").fill(product);
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create environment" }).click();
}
