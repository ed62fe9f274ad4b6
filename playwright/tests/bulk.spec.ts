import { expectAccessible } from "../support/accessible.ts";
import type { Api } from "../support/api.ts";
import { expect, signIn, test } from "../support/test.ts";

/** Creates two environments and three flags, of which one is on in staging. */
async function createFlags(api: Api) {
  const staging = await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  const checkout = await api.createFlag("checkout", "New checkout");
  const search = await api.createFlag("search", "Fast search");
  await api.createFlag("banner", "Banner");
  await api.switch(checkout, staging, true);
  return { staging, checkout, search };
}

test("selected flags are tagged together after a preview, and the list keeps its filters", async ({
  page,
  server,
  api,
}) => {
  await createFlags(api);
  await signIn(page, server);
  await page.goto("/dashboard/flags?sort=name&q=a");
  const bar = page.getByRole("form", { name: "Selected flags" });
  await expect(bar).toBeHidden();
  await page.getByLabel("Select Fast search").check();
  await page.getByLabel("Select Banner").check();
  await bar.getByRole("button", { name: "Tag" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tag 2 flags");
  await page.getByLabel("Tags to add").fill("q3, web");
  await page.getByRole("button", { name: "Preview" }).click();
  const row = page.getByRole("row", { name: "Fast search" });
  await expect(row).toContainText("No tags");
  await expect(row).toContainText("q3, web");
  await page.getByRole("button", { name: "Tag 2 flags" }).click();

  await expect(page).toHaveURL(/\/dashboard\/flags\?q=a&sort=name$/);
  await expect(page.locator(".flag-tags")).toHaveCount(2);
  // Flags that have the tag already do not change.
  await page.getByLabel("Select Banner").check();
  await bar.getByRole("button", { name: "Tag" }).click();
  await page.getByLabel("Tags to add").fill("web");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByText("already as you want them")).toBeVisible();
  await page.getByLabel("Tags to remove").fill("a".repeat(51));
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByLabel("Tags to remove")).toHaveAttribute("aria-invalid", "true");
});

test("selected flags are turned on in one environment, which may ask for a reason", async ({
  page,
  server,
  api,
}) => {
  const { staging } = await createFlags(api);
  await api.protect(staging, true);
  await signIn(page, server);
  await page.getByLabel("Select New checkout").check();
  await page.getByLabel("Select Fast search").check();
  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await page.getByLabel("Environment", { exact: true }).selectOption("staging");
  await page.getByRole("button", { name: "Preview" }).click();

  await expect(page.getByRole("row", { name: "New checkout" })).toContainText("Already on");
  await expect(page.getByRole("row", { name: "Fast search" })).toContainText("ON for everyone");
  await page.getByLabel("Reason").fill("Launch");
  await page.getByRole("button", { name: "Turn on 1 flag in staging" }).click();
  await expect(page.getByRole("switch", { name: "Fast search in staging" })).toBeChecked();
  await expect(page.getByRole("switch", { name: "Fast search in production" })).not.toBeChecked();
  await page.goto("/dashboard/audit");
  await expect(page.getByText("Launch")).toBeVisible();
});

test("a flag that cannot be archived is named, and the others go on without it", async ({
  page,
  server,
  api,
}) => {
  await createFlags(api);
  await signIn(page, server);
  await page.getByLabel("Select New checkout").check();
  await page.getByLabel("Select Banner").check();
  await page.getByRole("button", { name: "Archive", exact: true }).click();

  await expect(page.getByRole("row", { name: "New checkout" })).toContainText(
    "still enabled in Web shop/staging",
  );
  await expect(page.getByText("1 of the 2 flags cannot be changed")).toBeVisible();
  await page.getByRole("link", { name: "Continue with the other flag" }).click();
  await page.getByRole("button", { name: "Archive 1 flag" }).click();
  await expect(page.getByRole("link", { name: "Banner" })).toHaveCount(0);
  await expect(page.getByRole("link", { name: "New checkout" })).toBeVisible();
});

test("a flag that changes after the preview is previewed again", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const { staging, search } = await createFlags(api);
  await signIn(page, server);
  await page.getByLabel("Select Fast search").check();
  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await page.getByLabel("Environment", { exact: true }).selectOption("staging");
  await page.getByRole("button", { name: "Preview" }).click();
  await api.setRollout(search, staging, 5);
  await page.getByRole("button", { name: "Turn on 1 flag in staging" }).click();

  await expect(page.getByText("Somebody else changed this first")).toBeVisible();
  await expect(page.getByRole("row", { name: "Fast search" })).toContainText("5%");
  await page.getByRole("button", { name: "Turn on 1 flag in staging" }).click();
  await expect(page.getByRole("switch", { name: "Fast search in staging" })).toBeChecked();
});

test("a flag with a long name leaves room for its change", async ({ page, server, api }) => {
  await createFlags(api);
  const name = "a_name_without_any_space_".repeat(4);
  await api.createFlag(name, name);
  await signIn(page, server);
  await page.getByLabel(`Select ${name}`).check();
  await page.getByRole("button", { name: "Turn on", exact: true }).click();
  await page.getByLabel("Environment", { exact: true }).selectOption("staging");
  await page.getByRole("button", { name: "Preview" }).click();
  const table = page.locator(".outcomes");
  for (const width of [1280, 768]) {
    await page.setViewportSize({ width, height: 800 });
    await expect(page.getByRole("columnheader", { name: "Then" })).toBeVisible();
    expect.soft(await table.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0);
  }
});

test("a viewer cannot select flags", async ({ page, api, browserErrors }) => {
  browserErrors.ignore(/status of 403/);
  await createFlags(api);
  const viewer = await api.createUser("vic@example.com", "viewer");
  await signIn(page, viewer);
  await expect(page.getByRole("link", { name: "Banner" })).toBeVisible();
  await expect(page.getByRole("checkbox", { name: /^Select/ })).toHaveCount(0);
  await page.goto("/dashboard/change-flags?do=archive");
  await expect(page.getByText("Your role does not allow this")).toBeVisible();
});

test.describe("with scripts", { tag: "@scripts" }, () => {
  test("one box selects all flags, and a change by somebody else keeps the selection", async ({
    page,
    server,
    api,
  }) => {
    const { search, staging } = await createFlags(api);
    await signIn(page, server);
    const all = page.getByLabel("Select all flags on this page");
    const count = page.locator("[data-selected-count]");
    await all.check();
    await expect(count).toHaveText("3 flags selected");
    await page.getByLabel("Select Banner").uncheck();
    await expect(count).toHaveText("2 flags selected");
    await expect(all).toBeChecked({ indeterminate: true });
    await page.getByLabel("Select New checkout").uncheck();
    await expect(count).toHaveText("1 flag selected");
    await page.getByLabel("Select Banner").check();
    await page.getByLabel("Select New checkout").check();
    await expect(all).toBeChecked();
    await page.getByLabel("Select Banner").uncheck();
    await api.switch(search, staging, true);
    await expect(page.getByRole("switch", { name: "Fast search in staging" })).toBeChecked();
    await expect(page.getByLabel("Select Fast search")).toBeChecked();
    await expect(page.getByLabel("Select Banner")).not.toBeChecked();
  });

  test("the selection and the preview are accessible", async ({ page, server, api }) => {
    await createFlags(api);
    await signIn(page, server);
    await page.getByLabel("Select New checkout").check();
    await page.getByLabel("Select Banner").check();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Turn on", exact: true }).click();
    await page.getByLabel("Environment", { exact: true }).selectOption("production");
    await page.getByRole("button", { name: "Preview" }).click();
    await expect(page.getByRole("columnheader", { name: "Then" })).toBeVisible();
    await expectAccessible(page);
  });
});
