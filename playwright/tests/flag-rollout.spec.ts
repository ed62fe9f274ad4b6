import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import { address, shop } from "../support/flag-page.ts";
import { expect, signIn, test } from "../support/test.ts";

test("the slider and the number stay in sync, and a sentence explains the value", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await shop(api);
  await signIn(page, server);
  await page.goto(`${address}?edit=rollout`);
  const slider = page.getByLabel("Percentage slider");
  const number = page.getByLabel("Percentage", { exact: true });
  await expect(slider).toHaveAttribute("data-ready", "true");
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await expect(number).toHaveValue("26");
  await number.fill("40");
  await expect(slider).toHaveValue("40");
  await page.getByLabel("Tenants, by tenantId").check();
  await expect(page.getByText("40% of tenants are ON, by tenantId")).toBeVisible();
  await expect(page.getByText("The first 40 are ON.")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save rollout" }).click();
  await expect(page.locator("#rollout")).toContainText("40% of tenants are ON, by tenantId");
});

test("removing the rollout warns that it turns the flag on for everyone", async ({
  page,
  server,
  api,
}) => {
  const { flag, production } = await shop(api);
  await api.setRollout(flag, production, 5);
  await signIn(page, server);
  await page.goto(address);
  await page.getByRole("group", { name: "Rollout" }).getByRole("link", { name: "Remove" }).click();
  await expect(page.getByText("Result: ON for everyone.")).toBeVisible();
  await page.getByRole("button", { name: "Remove rollout" }).click();
  await expect(page.getByRole("link", { name: "Add rollout" })).toBeVisible();
  expect(await evaluate(server, production.sdkKey, "checkout_v2")).toEqual({
    enabled: true,
    reason: "flag_enabled",
  });
});
