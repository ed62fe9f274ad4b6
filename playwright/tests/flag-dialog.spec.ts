import type { Route } from "@playwright/test";
import { closedGate, hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

test("a flag can be created in a dialog, with a key derived from its name", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("cafe_creme", "Café");
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "New flag" });
  const [name, key] = [
    dialog.getByRole("textbox", { name: "Name" }),
    dialog.getByRole("textbox", { name: "Key" }),
  ];
  await expect(name).toBeFocused();
  await page.keyboard.type("(Café crème!)");
  await expect(key).toHaveValue("cafe_creme");
  await expect(dialog.getByText("already has this key")).toBeVisible();
  await name.fill("a".repeat(200));
  await expect(key).toHaveValue("a".repeat(128));

  await key.fill("-wrong");
  await expect(dialog.getByText("must be 1 to 128 letters")).toBeVisible();
  await key.fill("cafe_au_lait");
  await expect(dialog.getByText("This key is available.")).toBeVisible();
  // A key that was edited does not follow the name.
  await name.fill("Coffee with milk");
  await expect(key).toHaveValue("cafe_au_lait");

  await name.press("Enter");
  await expect(dialog).toBeHidden();
  await expect(page.getByText("cafe_au_lait").first()).toBeVisible();
});

test("a dialog keeps the input when the server refuses it", { tag: "@scripts" }, async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 4\d\d/);
  await api.createEnvironment("Web shop", "staging");
  await api.createFlag("taken", "Taken");
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).click();
  const dialog = page.getByRole("dialog", { name: "New flag" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("Another");
  await dialog.getByRole("textbox", { name: "Key" }).fill("taken");
  await dialog.getByRole("button", { name: "Create flag" }).click();
  await expect(dialog.getByRole("textbox", { name: "Key" })).toHaveAttribute(
    "aria-invalid",
    "true",
  );
  await expect(dialog.getByRole("textbox", { name: "Key" })).toBeFocused();
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("Another");
  await dialog.getByRole("link", { name: "Cancel" }).click();
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL(/\/dashboard\/flags$/);
  // The browser does not ask about the input in a dialog that was closed.
  await page.getByRole("link", { name: "New flag" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("Another");
  await page.keyboard.press("Escape");
  page.on("dialog", (question) => question.dismiss());
  await page.getByRole("link", { name: "Audit", exact: true }).click();
  await expect(page).toHaveURL(/\/dashboard\/audit/);
});

test("a dialog keeps the input without the server, and sends it once afterwards", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/ERR_FAILED|status of 502/);
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).click();
  const dialog = page.getByRole("dialog", { name: "New flag" });
  const name = dialog.getByRole("textbox", { name: "Name" });
  const create = dialog.getByRole("button", { name: "Create flag" });
  const alert = dialog.getByRole("alert");
  await name.fill("Dark mode");
  const form = "**/dashboard/new-flag**";
  for (const fail of [
    (route: Route) => route.abort(),
    (route: Route) =>
      route.fulfill({
        status: 502,
        contentType: "text/html",
        body: "<p role=alert>Bad gateway</p>",
      }),
  ]) {
    await page.route(form, fail, { times: 1 });
    await create.click();
    await expect(alert).toHaveText(/^Pennon cannot be reached\. What you typed is still here/);
    await expect(name).toHaveValue("Dark mode");
    await expect(create).toBeEnabled();
  }
  const release = await hold(page, form);
  await create.click();
  await expect(create).toBeDisabled();
  await expect(alert).toBeEmpty();
  release();
  await expect(page).toHaveURL(/\/dashboard\/flags\/dark_mode/);
});

test("a form opens in a new tab instead of the dialog if the browser is asked to", {
  tag: "@scripts",
}, async ({ page, context, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await scriptsReady(page);
  const opened = context.waitForEvent("page");
  await page.getByRole("link", { name: "New flag" }).click({ modifiers: ["ControlOrMeta"] });
  await expect(await opened).toHaveURL(/\/dashboard\/new-flag/);
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("the verdict on an earlier key is not shown for the current one", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createFlag("taken", "Taken");
  await signIn(page, server);
  await page.goto("/dashboard/new-flag");
  await scriptsReady(page);
  const key = page.getByLabel("Key");
  await key.fill("taken");
  const taken = page.getByText("already has this key");
  await expect(taken).toBeVisible();
  const { opened, open } = closedGate();
  await page.route("**/check-key", async (route) => {
    if (!route.request().postData()?.includes("dark_mode")) {
      await opened;
    }
    await route.fallback();
  });
  await key.fill("dark");
  await expect(taken).toBeHidden();
  const late = page.waitForRequest("**/check-key");
  await key.fill("taken");
  const request = await late;
  await key.fill("dark_mode");
  await expect(page.getByText("This key is available.")).toBeVisible();
  open();
  await (await request.response())?.finished();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  await expect(page.getByText("This key is available.")).toBeVisible();
});

test("a dialog asks for the reason of a new flag, and canceling leads back to the form", {
  tag: "@scripts",
}, async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/status of 409/);
  const production = await api.createEnvironment("Web shop", "production");
  await api.protect(production, true);
  await signIn(page, server);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).click();
  const dialog = page.getByRole("dialog", { name: "New flag" });
  const name = dialog.getByRole("textbox", { name: "Name" });
  const create = dialog.getByRole("button", { name: "Create flag" });
  await name.pressSequentially("Dark mode");
  for (const reason of ["", "INC-481"]) {
    await create.click();
    await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect(name).toHaveValue("Dark mode");
  }
  await create.click();
  await dialog.getByLabel("Reason").fill("INC-481");
  await dialog.getByRole("button", { name: "Create dark_mode" }).click();
  await expect(page).toHaveURL(/\/dashboard\/flags\/dark_mode/);
});

test("a dialog says that its user has lost the role", { tag: "@scripts" }, async ({
  page,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 403/);
  await api.createEnvironment("Web shop", "staging");
  const ben = await api.createUser("ben@example.com", "editor");
  await signIn(page, ben);
  await scriptsReady(page);
  await page.getByRole("link", { name: "New flag" }).click();
  const dialog = page.getByRole("dialog", { name: "New flag" });
  await dialog.getByRole("textbox", { name: "Name" }).pressSequentially("Dark mode");
  await api.setRole(ben, "viewer");
  await dialog.getByRole("button", { name: "Create flag" }).click();
  await expect(dialog.getByRole("alert")).toHaveText(/^Your role does not allow this./);
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("Dark mode");
});
