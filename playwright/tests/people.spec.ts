import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { expect, signIn, test, trySignIn } from "../support/test.ts";

const invited = { email: "ben@example.com", password: "a long enough password" };

async function invite(page: Page, email: string, role: string, password = ""): Promise<void> {
  await page.goto("/dashboard/people/new");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Role").selectOption(role);
  await page.getByLabel("Initial password").fill(password);
  await page.getByRole("button", { name: "Invite" }).click();
}

function row(page: Page, email: string) {
  return page.getByRole("row", { name: email });
}

test("a user is invited with a generated password, and signs in with it", async ({
  page,
  browser,
  server,
}) => {
  await signIn(page, server);
  await page.goto("/dashboard/people");
  await page.getByRole("link", { name: "Invite" }).click();
  await invite(page, "Cleo+flags@example.com", "editor");
  const secret = page.getByRole("region", { name: "Password" }).locator("code");
  const password = await secret.innerText();
  expect(password).toMatch(/^[\w-]{24}$/);

  await page.getByRole("link", { name: "I have sent the password" }).click();
  await expect(row(page, "Cleo+flags@example.com").getByRole("combobox")).toHaveValue("editor");
  await expect(row(page, "Cleo+flags@example.com")).toContainText("Not recently");
  await expect(row(page, server.email)).toContainText("You");
  expect(await page.content()).not.toContain(password);

  const other = await browser.newPage({ baseURL: server.url });
  await signIn(other, { email: "Cleo+flags@example.com", password });
  await expect(other.getByRole("heading", { level: 1 })).toContainText("Flags");
  await expect(other.getByRole("link", { name: "People" })).toHaveCount(0);
  await page.reload();
  await expect(row(page, "Cleo+flags@example.com")).toContainText("just now");
  await other.close();
});

test("errors in an invitation are shown, and the input except the password is kept", async ({
  page,
  server,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 4\d\d/);
  await signIn(page, server);
  await invite(page, invited.email, "viewer", "too short");
  await expect(page.getByLabel("Initial password")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Initial password")).toHaveValue("");
  await expect(page.getByLabel("E-mail")).toHaveValue(invited.email);
  await expect(page.getByLabel("Role")).toHaveValue("viewer");

  await invite(page, server.email, "viewer");
  await expect(page.getByLabel("E-mail")).toHaveAccessibleDescription(/already exists/);
});

test("a role change takes effect at once", async ({ page, browser, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await invite(page, invited.email, "viewer", invited.password);
  const other = await browser.newPage({ baseURL: server.url });
  await signIn(other, invited);
  await expect(other.getByRole("link", { name: "New flag" })).toHaveCount(0);

  const role = row(page, invited.email).getByRole("combobox");
  const change = row(page, invited.email).getByRole("button", { name: "Change role" });
  await expect(change).toBeHidden();
  await role.selectOption("editor");
  await change.click();
  await expect(page).toHaveURL(/#person-/);
  await expect(role).toHaveValue("editor");
  await other.reload();
  await expect(other.getByRole("link", { name: "New flag" })).not.toHaveCount(0);
  await other.close();
});

test("the last admin cannot lose the role", async ({ page, server, browserErrors }) => {
  browserErrors.ignore(/status of 409/);
  await signIn(page, server);
  await page.goto("/dashboard/people");
  await row(page, server.email).getByRole("combobox").selectOption("viewer");
  await row(page, server.email).getByRole("button", { name: "Change role" }).click();
  await expect(page.getByRole("alert")).toContainText("last administrator");
  // The role is still selected, so that the form can be submitted again once there is another administrator.
  await expect(row(page, server.email).getByRole("combobox")).toHaveValue("viewer");
  await expect(row(page, server.email).getByRole("button", { name: "Change role" })).toBeVisible();

  await row(page, server.email).getByRole("link").click();
  await page.getByRole("button", { name: `Delete ${server.email}` }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: `Delete ${server.email}` })
    .click();
  await expect(page.getByRole("alert")).toContainText("last administrator");
});

test("a concurrent change of a role is not overwritten", async ({
  page,
  context,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const ben = await api.createUser(invited.email, "viewer");
  await signIn(page, server);
  // Without the script, the page does not notice the change on its own.
  await context.route("**/live.*.js", (route) => route.abort());
  browserErrors.ignore(/live\.\w+\.js/);
  await page.goto("/dashboard/people");
  await api.setRole(ben, "admin");
  await row(page, invited.email).getByRole("combobox").selectOption("editor");
  await row(page, invited.email).getByRole("button", { name: "Change role" }).click();
  await expect(page.getByRole("alert")).toContainText("Somebody else changed this first");
});

test("resetting a password ends the sessions", async ({ page, browser, server, api }) => {
  const ben = await api.createUser(invited.email, "editor");
  const other = await browser.newPage({ baseURL: server.url });
  await signIn(other, ben);

  await signIn(page, server);
  await page.goto("/dashboard/people");
  await page.getByRole("link", { name: invited.email }).click();
  await page.getByLabel("New password").fill("another long password");
  await page.getByRole("button", { name: "Reset password" }).click();
  await expect(page.getByRole("status").first()).toContainText("Password changed");

  await other.goto("/dashboard/flags");
  await trySignIn(other, { ...ben, password: "another long password" });
  await expect(other.getByRole("heading", { level: 1 })).toContainText("Flags");

  await page.getByRole("button", { name: "Reset password" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("has a new password");
  await expect(page.getByRole("region", { name: "Password" }).locator("code")).toHaveText(
    /^[\w-]{24}$/,
  );
  await other.close();
});

test("deleting an account deletes its tokens", async ({ page, server, api }) => {
  const ben = await api.createUser(invited.email, "editor");
  const token = await api.createTokenAs(ben, "deploy");
  await signIn(page, server);
  await page.goto(`/dashboard/people/${ben.id}`);
  await expect(page.getByRole("row", { name: "deploy" })).toContainText(token.slice(0, 12));
  expect(await api.statusWith(token)).toBe(200);

  await page.getByRole("button", { name: `Delete ${invited.email}` }).click();
  const sure = page.getByRole("dialog", { name: `Delete ${invited.email}` });
  await expect(sure).toContainText("Sessions and tokens end immediately");
  await sure.getByRole("button", { name: "Cancel" }).click();
  await expect(sure).toBeHidden();
  await page.getByRole("button", { name: `Delete ${invited.email}` }).click();
  await sure.getByRole("button", { name: `Delete ${invited.email}` }).click();

  await expect(row(page, server.email)).toBeVisible();
  await expect(row(page, invited.email)).toHaveCount(0);
  expect(await api.statusWith(token)).toBe(401);
});

test("an admin revokes a user's token", async ({ page, server, api }) => {
  const ben = await api.createUser(invited.email, "editor");
  const token = await api.createTokenAs(ben, "deploy");
  await signIn(page, server);
  await page.goto(`/dashboard/people/${ben.id}`);
  await page.getByRole("button", { name: "Revoke deploy" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke deploy" }).click();
  await expect(page.getByText("This user has no tokens.")).toBeVisible();
  expect(await api.statusWith(token)).toBe(401);
});

test("only admins can open the page of people", async ({ page, api, browserErrors }) => {
  browserErrors.ignore(/status of 403/);
  const ben = await api.createUser(invited.email, "editor");
  await signIn(page, ben);
  for (const address of ["people", "people/new", `people/${ben.id}`]) {
    const answer = await page.goto(`/dashboard/${address}`);
    expect(answer?.status()).toBe(403);
    await expect(page.getByRole("alert")).toContainText("Your role does not allow this");
  }
});

test("the confirmation of a deletion is accessible", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const ben = await api.createUser(invited.email, "editor");
  await signIn(page, server);
  await page.goto(`/dashboard/people/${ben.id}`);
  await page.getByRole("button", { name: `Delete ${invited.email}` }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await expectAccessible(page);
});

test("a role in one environment is given, followed and removed", async ({
  page,
  browser,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  await api.createFlag("new_checkout", "New checkout");
  const ben = await api.createUser(invited.email, "viewer");
  await signIn(page, server);
  await page.goto(`/dashboard/people/${ben.id}`);
  await expect(page.getByText("the same role everywhere")).toBeVisible();
  await page.getByLabel("Where").selectOption("Web shop / staging");
  await page.getByLabel("Role", { exact: true }).selectOption("editor");
  await page.getByRole("button", { name: "Add role" }).click();
  const grants = page.getByRole("region", { name: "Roles in products" }).getByRole("listitem");
  await page.goto("/dashboard/people");
  const email = await row(page, invited.email)
    .getByRole("link", { name: invited.email })
    .boundingBox();
  expect(email?.height).toBeGreaterThanOrEqual(24);
  await page.setViewportSize({ width: 768, height: 720 });
  const table = page.locator(".table-panel");
  const hidden = await table.evaluate((panel) => panel.scrollWidth - panel.clientWidth);
  expect(hidden).toBe(0);
  await row(page, invited.email).getByRole("link", { name: "Has a higher role" }).click();
  await expect(page).toHaveURL(`/dashboard/people/${ben.id}`);
  await expect(grants).toHaveCount(1);
  await expect(grants).toContainText("Editor in Web shop / staging");

  const other = await browser.newPage({ baseURL: server.url });
  await signIn(other, ben);
  await expect(other.getByRole("switch", { name: "New checkout in staging" })).toBeEnabled();
  await expect(other.getByRole("switch", { name: "New checkout in production" })).toBeDisabled();
  await expect(other.getByRole("link", { name: "New flag" })).toHaveCount(0);
  await other.close();

  // Another role in the same environment replaces the first.
  await page.getByLabel("Where").selectOption("Web shop / staging");
  await page.getByLabel("Role", { exact: true }).selectOption("admin");
  await page.getByRole("button", { name: "Add role" }).click();
  await expect(grants).toHaveText([/Admin in Web shop \/ staging/]);
  const remove = { name: "Remove admin in Web shop / staging" };
  await page.getByRole("button", remove).click();
  await page.getByRole("dialog").getByRole("button", remove).click();
  await expect(page.getByText("the same role everywhere")).toBeVisible();
});

test("a role without a product or environment is refused, and the input is kept", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 400/);
  await api.createEnvironment("Web shop", "staging");
  const ben = await api.createUser(invited.email, "viewer");
  await signIn(page, server);
  await page.goto(`/dashboard/people/${ben.id}`);
  await page.getByLabel("Role", { exact: true }).selectOption("admin");
  await page.getByRole("button", { name: "Add role" }).click();
  await expect(page.getByLabel("Where")).toHaveAccessibleDescription(/product or an environment/);
  await expect(page.getByLabel("Role", { exact: true })).toHaveValue("admin");
});

test("the roles in products and environments are accessible", { tag: "@scripts" }, async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 400/);
  await api.createEnvironment("Web shop", "staging");
  const ben = await api.createUser(invited.email, "viewer");
  await signIn(page, server);
  await page.goto(`/dashboard/people/${ben.id}`);
  await page.getByLabel("Where").selectOption("Web shop / staging");
  await page.getByRole("button", { name: "Add role" }).click();
  await expect(page.getByRole("button", { name: "Remove editor in" })).toBeVisible();
  await page.getByRole("button", { name: "Add role" }).click();
  await expect(page.getByLabel("Where")).toHaveAttribute("aria-invalid", "true");
  await expectAccessible(page);
});
