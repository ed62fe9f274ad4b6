import { evaluate } from "../support/api.ts";
import { expect, signIn, test } from "../support/test.ts";

/** A user in bucket 63, and thus outside a rollout of 25%. */
const ada = "ada";

test("a new user releases a flag, finds out why a user gets it, and reverts the last change from the history", async ({
  page,
  server,
  javaScriptEnabled,
}) => {
  test.slow();
  // The empty list of flags shows the first step.
  await signIn(page, server);
  await page.getByRole("link", { name: "New environment" }).click();
  await page.getByLabel("Product").fill("Web shop");
  await page.getByLabel("Name").fill("production");
  await page.getByRole("button", { name: "Create environment" }).click();
  const key = await page.getByRole("region", { name: "SDK key" }).getByText(/^pnk_/).innerText();
  await page.getByRole("link", { name: "I have stored the key" }).click();

  await page.getByRole("link", { name: "Flags" }).first().click();
  await page.getByRole("link", { name: "New flag" }).click();
  const form = page.locator("form[data-form]");
  await form.getByLabel("Name").fill("New checkout");
  if (javaScriptEnabled) {
    await expect(form.getByLabel("Key")).toHaveValue("new_checkout");
  }
  await form.getByLabel("Key").fill("new_checkout");
  await page.getByRole("button", { name: "Create flag" }).click();

  await page.getByRole("link", { name: "Add rule" }).click();
  const rule = page.locator("#rule-form");
  await rule.getByLabel("Attribute").fill("country");
  await rule.locator("[name=operand]:enabled").fill("DE");
  await rule.getByRole("button", { name: "Add rule" }).last().click();
  // By its name, the environment is protected.
  await page.getByRole("button", { name: "Add a rule to new_checkout" }).click();
  await page.getByRole("link", { name: "Add rollout" }).click();
  await page.getByLabel("Percentage", { exact: true }).fill("25");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Roll out new_checkout to 25%" }).click();
  await expect(page.locator("#rollout")).toContainText("25% of everyone left is ON");
  if (javaScriptEnabled) {
    await expect(page.getByText("Server and this browser agree.")).toBeVisible();
  }
  await page.getByRole("switch").click();
  await page.getByRole("button", { name: "Turn on in production" }).click();
  await expect(page.getByRole("switch")).toBeChecked();

  // Find out why this user gets this value.
  const trial = page.getByRole("region", { name: "Try it" });
  await trial.getByLabel("userId").fill(ada);
  await trial.getByRole("button", { name: "Try it" }).click();
  await expect(trial).toContainText("its bucket, 63, is not below 25");
  await trial.getByLabel("country").fill("DE");
  await trial.getByRole("button", { name: "Try it" }).click();
  await expect(trial).toContainText("Rule 1 matches.");
  const germany = { userId: ada, country: "DE" };
  expect(await evaluate(server, key, "new_checkout", germany)).toEqual({
    enabled: true,
    reason: "targeting_rule",
  });

  // Revert the last change from the history, which shows its author.
  await page.getByRole("link", { name: "History" }).click();
  const entries = page.locator(".timeline").getByRole("listitem");
  await expect(entries.first()).toContainText(`${server.email} turned new_checkout on`);
  await entries.first().getByRole("link", { name: "Revert" }).click();
  await page.getByRole("button", { name: "Revert" }).click();
  await expect(entries.first()).toContainText("off");
  expect(await evaluate(server, key, "new_checkout", germany)).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });
});
