import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import type { Api, Environment } from "../support/api.ts";
import { evaluate } from "../support/api.ts";
import { flagStatus } from "../support/flag-page.ts";
import { chooseProduct } from "../support/product-switcher.ts";
import { expect, signIn, test } from "../support/test.ts";

const names = ["development", "testing", "demo", "staging", "production"];

/** Creates 8 products with 5 environments each, and more flags than a page lists. Returns the environments by name. */
async function company(api: Api): Promise<Map<string, Environment>> {
  const environments = new Map<string, Environment>();
  for (let product = 1; product <= 8; product++) {
    for (const name of names) {
      const environment = await api.createEnvironment(`Product ${product}`, name);
      environments.set(`Product ${product} / ${name}`, environment);
    }
  }
  for (let number = 1; number <= 31; number++) {
    await api.createFlag(`flag_${number}`, `A flag by the number of ${number}`);
  }
  return environments;
}

/** Asserts that the page is light: at most 300 kB of HTML and 3,000 elements. */
async function expectLight(page: Page): Promise<void> {
  const answer = await page.request.get(page.url());
  expect((await answer.body()).length).toBeLessThanOrEqual(300_000);
  expect(await page.locator("*").count()).toBeLessThanOrEqual(3_000);
}

test("on paper, the list has a row for each flag with all environments", async ({
  page,
  server,
  api,
}) => {
  for (const name of names) {
    await api.createEnvironment("Web shop", name);
  }
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  // A4 without its margins
  await page.setViewportSize({ width: 698, height: 1000 });
  await expect(page.getByRole("columnheader", { name: "testing" })).toBeHidden();
  await page.emulateMedia({ media: "print" });
  for (const name of names) {
    await expect(page.getByRole("columnheader", { name })).toBeVisible();
    await expect(page.getByRole("switch", { name: `New checkout in ${name}` })).toBeVisible();
  }
  await expect(page.getByText("Choose another environment above")).toBeHidden();
});

test("with 40 environments, the list has a column for each product, and switches in one", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  const environments = await company(api);
  const production = environments.get("Product 3 / production");
  const demo = environments.get("Product 3 / demo");
  if (production === undefined || demo === undefined) {
    throw new Error("The environments are missing.");
  }
  const flag = await api.createFlag("checkout_v2", "New checkout");
  await api.switch(flag, demo, true);
  await api.switch(flag, production, true);
  await api.setRollout(flag, production, 25);
  await signIn(page, server);

  const row = page.getByRole("row", { name: "New checkout" });
  await expect(page.locator("tbody tr")).toHaveCount(30);
  await expect(row.getByRole("switch")).toHaveCount(0);
  await expect(row.getByRole("link", { name: "Off" })).toHaveCount(7);
  const state = row.getByRole("link", { name: "2 of 5 on" });
  await expect(state).toHaveAttribute("title", "On in demo, production (25%)");
  await expectLight(page);
  const head = await page.getByRole("link", { name: "Product 3", exact: true }).boundingBox();
  expect(head?.height).toBeGreaterThanOrEqual(24);

  // The state leads to the flag in the product.
  await state.click();
  await expect(page).toHaveURL("/dashboard/flags/checkout_v2?product=Product+3");
  await expect(
    page.getByRole("navigation", { name: "Environments" }).getByRole("link"),
  ).toHaveCount(5);
  await expect(flagStatus(page)).toBeVisible();

  // The platform admin's task in four clicks: one flag on, in one environment of one product.
  await page.goto("/dashboard/flags");
  await chooseProduct(page, "Product 5", javaScriptEnabled ?? true);
  await expect(page).toHaveURL("/dashboard/flags?product=Product+5");
  await expect(page.locator("thead .environment")).toHaveText(names);
  await expectLight(page);
  const panel = page.locator(".flags-panel");
  expect(await panel.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0);
  await page.getByRole("switch", { name: "New checkout in staging" }).click();
  if (javaScriptEnabled) {
    await expect(page.getByRole("switch", { name: "New checkout in staging" })).toBeChecked();
    await expectAccessible(page);
  } else {
    await page.goto("/dashboard/flags?product=Product+5");
  }
  const staging = environments.get("Product 5 / staging")?.sdkKey ?? "";
  expect((await evaluate(server, staging, "checkout_v2")).enabled).toBe(true);

  // The account remembers the product, until all products are chosen again.
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/login/);
  await page.goto("/dashboard");
  await signIn(page, server);
  await expect(page).toHaveURL("/dashboard/flags?product=Product+5");
  await chooseProduct(page, "", javaScriptEnabled ?? true);
  await expect(page).toHaveURL("/dashboard/flags");
  await page.goto("/dashboard");
  await expect(page).toHaveURL("/dashboard/flags");
});

test("six environments fit beside each other", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  for (const name of [...names, "integration"]) {
    await api.createEnvironment("Web shop", name);
  }
  const flag = await api.createFlag(
    "a_key_as_long_as_those_that_people_really_use",
    "A name as long as those that people really use",
  );
  expect(flag.key).toHaveLength(45);
  await page.setViewportSize({ width: 1280, height: 800 });
  await signIn(page, server);
  await expect(page.getByRole("switch")).toHaveCount(6);
  const panel = page.locator(".flags-panel");
  expect(await panel.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0);
});

test("the keyboard focus is never under the names or the top bar", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  for (const name of [...names, "integration"]) {
    await api.createEnvironment("Web shop", name);
  }
  for (let number = 1; number <= 4; number++) {
    await api.createFlag(`flag_${number}`, `A flag by the number of ${number}`);
  }
  await signIn(page, server);
  // A wide list that scrolls sideways, and a page that scrolls under its top bar.
  for (const [width, height] of [
    [1024, 400],
    [720, 400],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto("/dashboard/flags");
    await page.getByRole("switch").last().focus();
    for (let presses = 0; presses < 30; presses++) {
      const covered = await page.evaluate(() => {
        const focused = document.activeElement;
        const { x = 0, y = 0, width = 0, height = 0 } = focused?.getBoundingClientRect() ?? {};
        const hits = [x + 1, x + width - 1].map((left) =>
          document.elementFromPoint(left, y + height / 2),
        );
        return hits.some((hit) => !focused?.contains(hit)) ? focused?.outerHTML : "";
      });
      expect.soft(covered, `after ${presses} presses at ${width} pixels`).toBe("");
      await page.keyboard.press("Shift+Tab");
    }
  }
});

test("a card on a phone shows one environment, chosen once, and the others on request", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  for (const name of names) {
    await api.createEnvironment("Web shop", name);
  }
  await api.createFlag("checkout_v2", "New checkout");
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page, server);
  const visible = page.getByRole("switch").filter({ visible: true });
  await expect(visible).toHaveCount(1);
  await expect(page.getByText("Cards show production.")).toBeVisible();
  await page.getByText("4 more environments").click();
  await expect(visible).toHaveCount(5);

  await page.getByLabel("Environment").selectOption("staging");
  if (!javaScriptEnabled) {
    await page.getByRole("search").getByRole("button", { name: "Show" }).click();
  }
  await expect(page.getByRole("switch")).toHaveCount(1);
  await expect(page).toHaveURL(/environment=/);
  await page.goto("/dashboard/flags");
  await expect(page.getByText("Cards show staging.")).toBeVisible();
  await expect(visible).toHaveCount(1);
  await expect(visible).toHaveAccessibleName("New checkout in staging");
  if (javaScriptEnabled) {
    await expectAccessible(page);
  }
});
