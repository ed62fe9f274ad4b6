import type { Locator, Page } from "@playwright/test";
import type { Api, Environment } from "../support/api.ts";
import { createCheckoutFlag, flagAddress, operand, ruleFormReady } from "../support/flag-page.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

/** The height of a target that a finger hits, in pixels. */
const touch = 44;

test.use({ viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true });

type Box = { x: number; y: number; width: number; height: number };

async function boxOf(target: Locator): Promise<Box> {
  const box = await target.boundingBox();
  if (box === null) {
    throw new Error(`${target} is not visible`);
  }
  return box;
}

/** Asserts that an element is hit over the height of a finger, at its start. */
async function expectTouchable(target: Locator): Promise<void> {
  const height = await target.evaluate((element) => {
    element.scrollIntoView({ block: "center" });
    const { left, top, height } = element.getBoundingClientRect();
    const isHit = (y: number) => {
      const hit = document.elementFromPoint(left + 8, top + height / 2 + y);
      return element.contains(hit) || hit?.closest("label")?.contains(element) === true;
    };
    let [above, below] = [0, 0];
    while (isHit(above - 1)) {
      above -= 1;
    }
    while (isHit(below + 1)) {
      below += 1;
    }
    return below - above + 1;
  });
  expect.soft(height, await target.innerText()).toBeGreaterThanOrEqual(touch - 1);
}

async function expectNoSidewaysScrolling(page: Page): Promise<void> {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect.soft(width, page.url()).toBe(page.viewportSize()?.width);
}

/** Creates five environments of two products, and a flag. Returns the last environment. */
async function fiveEnvironments(api: Api): Promise<Environment> {
  for (const name of ["development", "staging", "production"]) {
    await api.createEnvironment("Payments", name);
  }
  await api.createEnvironment("Web shop", "staging");
  const last = await api.createEnvironment("Web shop", "production");
  await api.createFlag("psp", "Payment provider switch");
  return last;
}

test("the description of a change has the whole width", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const staging = await api.createEnvironment("Web shop", "staging");
  await api.createFlag("checkout_v2", "New checkout");
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${staging.id}&edit=rule`);
  await ruleFormReady(page);
  await page.getByLabel("Attribute").fill("country");
  await operand(page).fill("DE");
  const { width } = await boxOf(page.locator(".before-after dd").last());
  expect(width).toBeGreaterThan(200);
});

test("every entry of the menu is within reach on a low screen", async ({ page, server }) => {
  await signIn(page, server);
  for (const [width, height] of [
    [667, 375],
    [320, 256],
    [1024, 400],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto("/dashboard/flags");
    if (width < 900) {
      await page.getByRole("button", { name: "Menu" }).tap();
    }
    const last = page.getByRole("button", { name: "Sign out" });
    await last.scrollIntoViewIfNeeded();
    await expect(last).toBeInViewport({ ratio: 1 });
  }
});

test("the message about a change does not cover the actions for selected flags", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  for (let number = 1; number <= 6; number++) {
    await api.createFlag(`flag_${number}`, `Flag ${number}`);
  }
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("checkbox", { name: "Select Flag 6" }).check();
  await page.getByRole("switch", { name: "Flag 6" }).tap();
  const message = page.locator(".toast");
  await expect(message).toBeVisible();
  for (const position of [0, 100_000]) {
    await page.evaluate((y) => scrollTo(0, y), position);
    await expect(async () => {
      const [above, below] = [await boxOf(message), await boxOf(page.locator(".selection-bar"))];
      expect(above.y + above.height).toBeLessThanOrEqual(below.y);
    }).toPass();
  }
});

test("a tap on the last line of a name opens the flag", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("psp", "Payment provider switch");
  await signIn(page, server);
  await page.locator(".flag-title").scrollIntoViewIfNeeded();
  const lineEnd = await page.locator(".flag-title > a").evaluate((link) => {
    const line = document.createRange();
    line.selectNodeContents(link);
    return line.getBoundingClientRect().bottom;
  });
  const copy = await boxOf(page.getByRole("button", { name: "Copy the key psp" }));
  await page.touchscreen.tap(copy.x + copy.width / 2, lineEnd - 2);
  await expect(page).toHaveURL("/dashboard/flags/psp");
});

test("the page of a flag shows its environment", async ({ page, server, api }) => {
  const production = await fiveEnvironments(api);
  await signIn(page, server);
  await page.goto(`/dashboard/flags/psp?environment=${production.id}`);
  const environments = page.getByRole("navigation", { name: "Environments" });
  const current = environments.getByText("Web shop / production");
  await expect(current).toBeInViewport({ ratio: 1 });
  await current.tap();
  await environments.getByRole("link", { name: "development" }).tap();
  await expect(environments.getByText("Payments / development")).toBeInViewport({ ratio: 1 });
});

test("the tabs of a tablet scroll to the current environment", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const production = await fiveEnvironments(api);
  await page.setViewportSize({ width: 768, height: 1024 });
  await signIn(page, server);
  await page.goto(`/dashboard/flags/psp?environment=${production.id}`);
  const current = page.locator(".tabs").getByRole("link", { name: "Web shop / production" });
  await expect(current).toBeInViewport({ ratio: 0.98 });
});

test("the question before a change is visible on a low screen", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const { production } = await createCheckoutFlag(api);
  await api.protect(production);
  await signIn(page, server);
  for (const [width, height] of [
    [667, 300],
    [320, 200],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto(`${flagAddress}?environment=${production.id}`);
    await scriptsReady(page);
    await page.getByRole("switch").tap();
    const question = page.getByRole("heading", { name: "Turn off New checkout in production?" });
    await expect(question).toBeInViewport({ ratio: 1 });
    await expect(page.getByRole("button", { name: "Cancel" })).toBeInViewport({ ratio: 1 });
  }
});

test("the list begins soon after the search, and its filters open", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  await fiveEnvironments(api);
  await signIn(page, server);
  const [search, card] = [page.getByRole("searchbox"), page.getByRole("row", { name: /^Select/ })];
  expect((await boxOf(card)).y - (await boxOf(search)).y).toBeLessThan(300);
  await expect(page.getByLabel("Environment")).toBeVisible();
  await expect(page.getByLabel("Flag state")).toBeHidden();
  await page.getByText("Filters").tap();
  await page.getByLabel("Flag state").selectOption("Off");
  if (!javaScriptEnabled) {
    await page.getByRole("search").getByRole("button", { name: "Show" }).tap();
  }
  await expect(page.getByText("Filters (1)")).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("Flag state")).toBeVisible();
});

test("names without spaces do not widen the page", async ({ page, server, api }) => {
  const long = await api.createEnvironment("Web shop", "e".repeat(64));
  await api.createEnvironment("Web shop", "staging");
  const flag = await api.createFlag("k".repeat(64), "n".repeat(64));
  await api.switch(flag, long, true);
  await signIn(page, server);
  const selected = `flag=${flag.id}`;
  for (const path of [
    "/dashboard/flags",
    "/dashboard/environments",
    `/dashboard/flags/${flag.key}/compare?with=${long.id}`,
    `/dashboard/change-flags?do=archive&${selected}`,
    `/dashboard/change-flags?do=enable&environment=${long.id}&${selected}`,
  ]) {
    await page.goto(path);
    await expectNoSidewaysScrolling(page);
  }
  await page.goto("/dashboard/environments");
  for (const card of await page.locator(".cards tbody tr:not(.group)").all()) {
    const { x, width } = await boxOf(card);
    expect.soft(x + width).toBeLessThanOrEqual(320 - 16);
  }
});

test("the author of a change and the fields for attributes are readable", async ({
  page,
  server,
  api,
}) => {
  const { production } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto("/dashboard/incident");
  const author = page.locator(".action-actor").first();
  expect(await author.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0);
  await page.goto(`${flagAddress}?environment=${production.id}`);
  for (const name of ["Attribute name", "Attribute value"]) {
    const { width } = await boxOf(page.getByLabel(name).first());
    expect(width).toBeGreaterThan(140);
  }
});

test("a finger hits every link", async ({ page, server, api }) => {
  const { production } = await createCheckoutFlag(api);
  await signIn(page, server);
  await page.goto(`${flagAddress}?edit=details`);
  await page.getByRole("textbox", { name: "Tags" }).fill("checkout");
  await page.getByRole("button", { name: "Save" }).tap();
  await expect(page.getByRole("link", { name: "checkout", exact: true })).toBeVisible();
  const environment = `?environment=${production.id}`;
  for (const [path, ...names] of [
    ["/dashboard/flags", "New checkout"],
    ["/dashboard/environments", "production"],
    ["/dashboard/people", server.email],
    [
      `${flagAddress}${environment}`,
      "checkout",
      "Change how long clients keep the flag",
      "Open full page",
    ],
    [`${flagAddress}/compare`, "staging"],
  ] as const) {
    await page.goto(path);
    for (const name of names) {
      await expectTouchable(page.getByRole("main").getByRole("link", { name, exact: true }));
    }
  }
  await page.goto(`${flagAddress}${environment}&edit=recipe`);
  await expectTouchable(page.getByRole("radio").first());
});

test("a finger hits the controls of the list of flags on a tablet", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  for (let product = 1; product <= 3; product++) {
    for (const name of ["development", "staging", "production"]) {
      await api.createEnvironment(`Product ${product}`, name);
    }
  }
  for (let number = 1; number <= 3; number++) {
    await api.createFlag(`flag_${number}`, `Flag ${number}`);
  }
  await signIn(page, server);
  await page.setViewportSize({ width: 1024, height: 768 });
  await scriptsReady(page);
  await expectTouchable(page.getByRole("columnheader").getByRole("link", { name: "Product 2" }));
  for (let number = 1; number <= 3; number++) {
    await expectTouchable(page.getByRole("link", { name: `Flag ${number}` }));
    await expectTouchable(page.getByRole("button", { name: `Copy the key flag_${number}` }));
  }
  await expectTouchable(page.locator(".who-text"));
});
