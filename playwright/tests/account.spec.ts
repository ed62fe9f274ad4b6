import { expectAccessible } from "../support/accessible.ts";
import type { Environment, Flag } from "../support/api.ts";
import type { Server } from "../support/server.ts";
import { expect, scriptsReady, signIn, test, trySignIn } from "../support/test.ts";

test("changing the password ends all other sessions", async ({
  page,
  browser,
  server,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 4\d\d/);
  const other = await browser.newPage({ baseURL: server.url });
  await signIn(other, server);
  await signIn(page, server);
  await page.getByRole("link", { name: server.email }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Account");

  await page.getByLabel("Current password").fill("wrong horse battery staple");
  await page.getByLabel("New password").fill("a new and better password");
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.getByLabel("Current password")).toHaveAccessibleDescription(
    "Is not the current password.",
  );
  await expect(page.getByLabel("New password")).toHaveValue("");

  await page.getByLabel("Current password").fill(server.password);
  await page.getByLabel("New password").fill("a new and better password");
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.getByText("Password changed.")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Account");

  await other.goto("/dashboard/flags");
  await expect(other.getByRole("heading", { name: "Sign in to Pennon" })).toBeVisible();
  await trySignIn(other, { ...server, password: "a new and better password" });
  await expect(other.getByRole("heading", { level: 1 })).toContainText("Flags");
  await other.close();
});

test("a token is created, shown once, and revoked", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  await signIn(page, server);
  await page.goto("/dashboard/account");
  await page.getByLabel("Name").fill("deploy");
  await page.getByLabel("Role").selectOption("viewer");
  await page.getByLabel("Expires after").selectOption("7");
  await page.getByRole("button", { name: "Create token" }).click();
  const region = page.getByRole("region", { name: "Token", exact: true });
  const secret = region.locator("code").first();
  await expect(region).toContainText(/pnt_[\w-]{43}/);
  const token = /pnt_[\w-]{43}/.exec(await page.content())?.[0] ?? "";
  await expect(secret).toBeVisible();
  expect(await api.statusWith(token)).toBe(200);

  await page.getByRole("link", { name: "I have stored the token" }).click();
  const row = page.getByRole("row", { name: "deploy" });
  await expect(row).toContainText(token.slice(0, 12));
  await expect(row).toContainText("Viewer");
  const end = new Date(Date.now() + 7 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  await expect(row).toContainText(end);
  expect(await page.content()).not.toContain(token);

  await page.getByLabel("Name").fill("deploy");
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByLabel("Name")).toHaveAccessibleDescription(/already exists/);
  await expect(page.getByLabel("Name")).toHaveValue("deploy");

  await row.getByRole("button", { name: "Revoke deploy" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke deploy" }).click();
  await expect(row).toHaveCount(0);
  expect(await api.statusWith(token)).toBe(401);
});

test("a button copies the token", { tag: "@scripts" }, async ({ page, context, server }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page, server);
  await page.goto("/dashboard/account");
  await page.getByLabel("Name").fill("deploy");
  await page.getByRole("button", { name: "Create token" }).click();
  const copy = page.getByRole("button", { name: "Copy token" });
  await scriptsReady(page);
  await copy.dblclick();
  await expect(copy).toContainText("Copied");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^pnt_[\w-]{43}$/);
  await expect(copy).toContainText("Copy token");
});

test("a token has no more rights than its owner", async ({ page, api }) => {
  const ben = await api.createUser("ben@example.com", "viewer");
  await signIn(page, ben);
  await page.goto("/dashboard/account");
  const roles = page.getByLabel("Role").getByRole("option");
  await expect(roles).toHaveText([/^Viewer/]);
  await expect(page.getByRole("link", { name: "ben@example.com" })).toHaveAttribute(
    "aria-current",
    "page",
  );
  await page.getByRole("main").getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in to Pennon" })).toBeVisible();
});

test("a form sent after the session ended is kept and sent again", async ({
  page,
  context,
  server,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 4\d\d/);
  await signIn(page, server);
  await page.goto("/dashboard/new-flag");
  await page.getByLabel("Name").fill("New <checkout> & more");
  await page.getByLabel("Key").fill("new_checkout");
  await page.getByLabel("Description").fill("Line one\nLine two");
  await context.clearCookies();
  await page.getByRole("button", { name: "Create flag" }).click();

  await expect(page.getByText("What you typed is kept")).toBeVisible();
  await trySignIn(page, { ...server, password: "not the password at all" });
  await expect(page.getByText("What you typed is kept")).toBeVisible();
  await signIn(page, server);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New <checkout> & more");
  await expect(page.getByText("new_checkout", { exact: true })).toBeVisible();
});

test("an invitation sent after the session ended keeps all fields except the password", async ({
  page,
  context,
  server,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 40\d/);
  await signIn(page, server);
  await page.goto("/dashboard/people/new");
  await page.getByLabel("E-mail").fill("ben@example.com");
  await page.getByLabel("Role").selectOption("admin");
  await page.getByLabel("Initial password").fill("a long enough password");
  await context.clearCookies();
  await page.getByRole("button", { name: "Invite" }).click();
  await expect(page.getByText("you will be asked for it again")).toBeVisible();
  await signIn(page, server);
  await expect(page.getByLabel("E-mail")).toHaveValue("ben@example.com");
  await expect(page.getByLabel("Initial password")).toHaveAccessibleDescription(/type it again/);
  await page.getByLabel("Initial password").fill("a long enough password");
  await page.getByRole("button", { name: "Invite" }).click();
  const row = page.getByRole("row", { name: "ben@example.com" });
  await expect(row.getByRole("combobox")).toHaveValue("admin");
});

test("a switch used after the session ended takes effect after the sign-in, without scripts", async ({
  page,
  context,
  server,
  api,
  javaScriptEnabled,
  browserErrors,
}) => {
  test.skip(javaScriptEnabled !== false, "With scripts the page stays and says so.");
  browserErrors.ignore(/status of 401/);
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await page.goto("/dashboard/flags?q=new");
  await context.clearCookies();
  await page.getByRole("switch", { name: "New checkout in staging" }).click();
  await signIn(page, server);
  await expect(page).toHaveURL(/flags\?q=new/);
  await expect(page.getByRole("switch", { name: "New checkout in staging" })).toBeChecked();
});

test("a form in a dialog sent after the session ended is kept", { tag: "@scripts" }, async ({
  page,
  context,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 401/);
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("dark_mode", "Dark mode");
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).click();
  const dialog = page.getByRole("dialog", { name: "New flag" });
  await dialog.getByLabel("Name").fill("New checkout");
  await dialog.getByLabel("Key").fill("new_checkout");
  await context.clearCookies();
  await dialog.getByRole("button", { name: "Create flag" }).click();
  await expect(page.getByText("What you typed is kept")).toBeVisible();
  await signIn(page, server);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("New checkout");
});

test("a token is limited to one environment", async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/status of 400/);
  const staging = await api.createEnvironment("Web shop", "staging");
  const production = await api.createEnvironment("Web shop", "production");
  const flag = await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await page.goto("/dashboard/account");
  await page.getByLabel("Name").fill("deploy");
  await page.getByLabel("Role").selectOption("viewer");
  await page.getByLabel("Where").selectOption("Web shop / staging");
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByLabel("Role")).toHaveAccessibleDescription(/can read everything/);
  await expect(page.getByLabel("Where")).toHaveValue(/^environment:/);

  await page.getByLabel("Role").selectOption("editor");
  await page.getByRole("button", { name: "Create token" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Token deploy is ready");
  const token = /pnt_[\w-]{43}/.exec(await page.content())?.[0] ?? "";
  expect(await statusOfSwitch(server, token, flag, staging)).toBe(204);
  expect(await statusOfSwitch(server, token, flag, production)).toBe(403);
  await page.getByRole("link", { name: "I have stored the token" }).click();
  await expect(page.getByRole("row", { name: "deploy" })).toContainText(
    "Editor in Web shop / staging",
  );
});

test("the form of a new token is accessible", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await page.goto("/dashboard/account");
  await expect(page.getByLabel("Where")).toBeVisible();
  await expectAccessible(page);
});

/** Returns the status of the response to switching a flag on with this token. */
async function statusOfSwitch(
  server: Server,
  token: string,
  flag: Flag,
  environment: Environment,
): Promise<number> {
  const address = `/flags/${flag.id}/environments/${environment.id}`;
  const answer = await fetch(new URL(address, server.url), {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ isEnabled: true }),
  });
  return answer.status;
}
