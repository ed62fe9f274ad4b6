import { expect, signIn, test } from "../support/test.ts";

test("a user signs in and out", async ({ page, server }) => {
  await signIn(page, server);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Flags");

  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in to Pennon" })).toBeVisible();
  await page.goto("/dashboard/flags");
  await expect(page.getByRole("heading", { name: "Sign in to Pennon" })).toBeVisible();
});

test("a wrong password is refused, and the address is kept", async ({
  page,
  server,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 401/);
  await page.goto("/dashboard");
  await page.getByLabel("E-mail").fill(server.email);
  await page.getByLabel("Password").fill("wrong horse battery staple");
  await page.getByRole("button", { name: "Sign in" }).click();

  const password = page.getByLabel("Password");
  await expect(password).toHaveAttribute("aria-invalid", "true");
  await expect(password).toHaveAccessibleDescription(/password/);
  await expect(password).toHaveValue("");
  await expect(page.getByLabel("E-mail")).toHaveValue(server.email);

  await password.fill(server.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Flags");
});

test("signing in leads to the requested page", async ({ page, server }) => {
  await page.goto("/dashboard/environments/new");
  await signIn(page, server);
  await expect(page.getByRole("heading", { name: "New environment" })).toBeVisible();
});

test("signing out ends the session in all tabs", async ({ page, context, server }) => {
  await signIn(page, server);
  const other = await context.newPage();
  await other.goto("/dashboard/flags");
  await other.getByRole("button", { name: "Sign out" }).click();
  await expect(other.getByRole("heading", { name: "Sign in to Pennon" })).toBeVisible();

  await page.reload();
  await expect(page.getByRole("heading", { name: "Sign in to Pennon" })).toBeVisible();
});
