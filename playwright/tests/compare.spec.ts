import { expectAccessible } from "../support/accessible.ts";
import type { Condition } from "../support/api.ts";
import { country, createCheckoutFlag, flagAddress } from "../support/flag-page.ts";
import { expect, signIn, test } from "../support/test.ts";

test("differences between environments are marked, and copied one by one or as a whole", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  const { flag, staging, production } = await createCheckoutFlag(api);
  await api.addRule(flag, staging, country("DE", 1));
  await api.setRollout(flag, staging, 25);
  await api.setRollout(flag, production, 5);
  await api.setTtl(flag, production, 300);
  await signIn(page, server);
  await page.goto(`${flagAddress}?environment=${staging.id}`);
  await page.getByRole("link", { name: "Compare" }).click();

  const row = page.getByRole("row", { name: /^production/ });
  await expect(page.getByRole("row", { name: /^staging/ })).toContainText(
    "Compared with the others",
  );
  await expect(row.locator(".differs")).toHaveText([/None/, /5% of users are ON/, /5 min/]);
  if (javaScriptEnabled) {
    await expectAccessible(page);
  }
  await row.getByRole("link", { name: /: rollout in production/ }).click();
  await expect(page.getByText("Copies only the rollout from here.")).toBeVisible();
  await expect(page.locator(".differences li")).toHaveCount(1);
  await page.getByRole("button", { name: "Copy to production" }).click();
  await expect(page.locator("#rollout")).toContainText("25% of users");
  expect(await api.rules(flag, production)).toEqual([]);

  await page.goto(`${flagAddress}/compare`);
  await expect(row.locator(".differs")).toHaveText([/None/, /5 min/]);
  await row.getByRole("link", { name: /everything in production/ }).click();
  await page.getByRole("button", { name: "Copy to production" }).click();
  await expect(page.locator(".toast")).toBeVisible();
  await page.goto(`${flagAddress}/compare?with=${production.id}`);
  await expect(page.getByRole("row", { name: /^staging/ })).toContainText("Same as production");
  await expect(page.locator(".differs")).toHaveCount(0);
});

test("a viewer compares, and changes nothing", async ({ page, api }) => {
  const { flag, staging } = await createCheckoutFlag(api);
  await api.setRollout(flag, staging, 25);
  await signIn(page, await api.createUser("vera@example.com", "viewer"));
  await page.goto(`${flagAddress}/compare`);
  await expect(page.locator(".differs")).toHaveCount(1);
  await expect(page.getByRole("link", { name: /^Make like/ })).toHaveCount(0);
});

test("a long rule leaves room for the names of the environments", async ({ page, server, api }) => {
  const { flag, staging } = await createCheckoutFlag(api);
  const addresses = Array.from({ length: 30 }, (_, index) => `person-${index}@example.com`);
  const conditions = addresses.map(
    (address): Condition => ({
      attribute: "email",
      operator: "==",
      valueType: "string",
      valueString: address,
    }),
  );
  await api.addRule(flag, staging, { priority: 1, logic: "or", value: true, conditions });
  await signIn(page, server);
  for (const width of [1280, 768]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${flagAddress}/compare`);
    const name = await page.getByRole("rowheader", { name: /^production/ }).boundingBox();
    expect(name?.width, `at ${width} pixels`).toBeGreaterThanOrEqual(144);
    const contents = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(contents, `at ${width} pixels`).toBeLessThanOrEqual(width);
  }
});
