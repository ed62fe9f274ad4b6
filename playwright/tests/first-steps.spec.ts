import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import { expect, signIn, test } from "../support/test.ts";

test("an empty installation lists the first steps, and marks each as done when it is", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  await signIn(page, server);
  const steps = page.getByRole("region", { name: "First steps" });
  await expect(steps).toContainText("0 of 5");
  await steps.getByRole("link", { name: "New environment" }).click();
  await page.getByLabel("Product").fill("Web shop");
  await page.getByLabel("Name").fill("production");
  await page.getByRole("button", { name: "Create environment" }).click();
  const key = (await page.locator(".secret code").textContent()) ?? "";
  await expect(page.getByText("Until a flag with this key exists")).toBeVisible();
  await page.getByRole("link", { name: "I have stored the key" }).click();
  await page.getByRole("link", { name: "Flags", exact: true }).first().click();
  // Without scripts, nothing tells the server that the key is stored, until it is used.
  await expect(steps).toContainText(javaScriptEnabled ? "2 of 5" : "1 of 5");

  if (javaScriptEnabled) {
    await steps.getByRole("link", { name: "New flag" }).click();
    const form = page.locator("form[data-form]");
    await form.getByLabel("Name").fill("Fast search");
    await form.getByRole("button", { name: "Create flag" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Fast search");
    await page.goto("/dashboard/flags");
    await steps.getByRole("link", { name: "Show the code" }).click();
    await expect(page.locator("pre").first()).toContainText('{"flagKey": "fast_search"');
    await page.goto("/dashboard/flags");
  } else {
    await api.createFlag("fast_search", "Fast search");
    await page.reload();
  }

  await expect(steps).toContainText(javaScriptEnabled ? "3 of 5" : "2 of 5");
  await evaluate(server, key, "fast_search");
  if (!javaScriptEnabled) {
    await page.reload();
  }
  await expect(steps).toContainText("4 of 5");
  await page.getByRole("switch").click();
  await page.getByRole("button", { name: "Turn on in production" }).click();
  if (!javaScriptEnabled) {
    await page.goto("/dashboard/flags");
  }
  await expect(page.getByRole("region", { name: "You are set up" })).toContainText("5 of 5");
  if (javaScriptEnabled) {
    await expectAccessible(page);
  }

  // The evaluation counts as a request of the environment, although no client has polled.
  await page.goto("/dashboard/environments");
  await expect(page.getByRole("row", { name: "production" })).toContainText(/just now|min ago/);
});

test("a viewer reads that an admin takes the first step", async ({ page, server, api }) => {
  await signIn(page, await api.createUser("vera@example.com", "viewer"));
  await expect(page.getByText("Ask an admin to create one.")).toBeVisible();
  await expect(page.getByRole("link", { name: /^New/ })).toHaveCount(0);
  expect(server.panics).toEqual([]);
});
