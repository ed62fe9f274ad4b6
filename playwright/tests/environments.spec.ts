import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

async function createEnvironment(page: Page, product: string, name: string): Promise<void> {
  await page.goto("/dashboard/environments/new");
  await page.getByLabel("Product").fill(product);
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create environment" }).click();
}

async function shownKey(page: Page): Promise<string> {
  const key = page.getByRole("region", { name: "SDK key" }).getByText(/^pnk_[\w-]{43}$/);
  return key.innerText();
}

test("a new environment's key works, and is shown once", async ({ page, server, api }) => {
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await createEnvironment(page, "Web shop", "staging");
  const key = await shownKey(page);
  expect(await evaluate(server, key, "new_checkout")).toEqual({
    enabled: false,
    reason: "flag_disabled",
  });

  await page.getByRole("link", { name: "I have stored the key" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("staging");
  await page.goto("/dashboard/environments");
  const row = page.getByRole("row", { name: "staging" });
  await expect(row).toContainText(key.slice(0, 12));
  expect(await page.content()).not.toContain(key.slice(13));
});

test("a button copies the key", { tag: "@scripts" }, async ({ page, context, server }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.clock.install();
  await signIn(page, server);
  await createEnvironment(page, "Web shop", "staging");
  const copy = page.getByRole("button", { name: "Copy key" });
  await scriptsReady(page);
  const label = await copy.innerText();
  await copy.click();
  await expect(copy).toContainText("Copied");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await shownKey(page));
  // A second copy does not keep the confirmation.
  await copy.click();
  await page.clock.runFor(5_000);
  await expect(copy).toHaveText(label);
});

test("a button copies the key without the Clipboard API, too", { tag: "@scripts" }, async ({
  page,
  server,
}) => {
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", {}));
  await signIn(page, server);
  await createEnvironment(page, "Web shop", "staging");
  await scriptsReady(page);
  const key = await shownKey(page);
  const copy = page.getByRole("button", { name: "Copy key" });
  await copy.click();
  await expect(copy).toContainText("Copied");
  await expect(page.locator("textarea.visually-hidden")).toHaveCount(0);
  await page.getByRole("link", { name: "I have stored the key" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("staging");
  await page.goto("/dashboard/flags");
  await page.getByRole("button", { name: "Jump to" }).click();
  const field = page.getByRole("combobox", { name: "Jump to" });
  await field.press("ControlOrMeta+v");
  await expect(field).toHaveValue(key);
});

test("a button does not confirm a copy that the browser refuses", { tag: "@scripts" }, async ({
  page,
  server,
}) => {
  await page.addInitScript(() => {
    const writeText = () => {
      document.documentElement.dataset.refused = "";
      return Promise.reject(new DOMException("", "NotAllowedError"));
    };
    Object.defineProperty(navigator, "clipboard", { value: { writeText } });
  });
  await signIn(page, server);
  await createEnvironment(page, "Web shop", "staging");
  await scriptsReady(page);
  const copy = page.getByRole("button", { name: "Copy key" });
  const label = await copy.innerText();
  await copy.click();
  await expect(page.locator(":root[data-refused]")).toBeAttached();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  // A confirmation would disappear by itself.
  expect(await copy.innerText()).toBe(label);
});

test("a second environment with the same name is refused, and the input is kept", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await createEnvironment(page, "Web shop", "staging");

  await expect(page.getByLabel("Name")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Name")).toHaveValue("staging");
  await expect(page.getByLabel("Product")).toHaveValue("Web shop");
});

/** The names of the environments in the order of the page. */
function namesOf(page: Page) {
  return page.getByRole("table", { name: "Active environments" }).locator("tbody a");
}

test("environments are moved with buttons, and flags follow their order", async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  await api.createEnvironment("Web shop", "demo");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await page.goto("/dashboard/environments");
  await expect(namesOf(page)).toHaveText(["staging", "production", "demo"]);
  await expect(page.getByRole("button", { name: "Move staging up" })).toBeHidden();
  await expect(page.getByRole("button", { name: "Move demo down" })).toBeHidden();
  await page.getByRole("button", { name: "Move demo up" }).click();
  await expect(namesOf(page)).toHaveText(["staging", "demo", "production"]);
  await page.getByRole("button", { name: "Move staging down" }).click();
  await expect(namesOf(page)).toHaveText(["demo", "staging", "production"]);

  await page.goto("/dashboard/flags");
  const columns = page.getByRole("columnheader", { name: /^(demo|staging|production)/ });
  await expect(columns).toHaveText([/demo/, /staging/, /production/]);
  await page.goto("/dashboard/audit");
  await expect(page.getByRole("main")).toContainText("in the order of environments");
});

test("a button that moves an environment keeps the focus", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  for (const name of ["staging", "production", "demo"]) {
    await api.createEnvironment("Web shop", name);
  }
  await api.createEnvironment("Blog", "staging");
  await api.createEnvironment("Blog", "production");
  await signIn(page, server);
  await page.goto("/dashboard/environments");
  // Each button has a name of its own.
  await expect(page.getByRole("button", { name: "Move production up in Blog" })).toHaveCount(1);
  const up = page.getByRole("button", { name: "Move demo up in Web shop" });
  const down = page.getByRole("button", { name: "Move demo down in Web shop" });
  const names = (order: string[]) => {
    return expect(namesOf(page)).toHaveText(["staging", "production", ...order]);
  };
  await up.focus();
  await page.keyboard.press("Enter");
  await names(["staging", "demo", "production"]);
  await expect(up).toBeFocused();
  await page.keyboard.press("Enter");
  await names(["demo", "staging", "production"]);
  // At the end of the list, only the other button is left.
  await expect(down).toBeFocused();
  await page.keyboard.press("Enter");
  await names(["staging", "demo", "production"]);
  await expect(down).toBeFocused();
});

test("environments are dragged to their place", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Blog", "production");
  const staging = await api.createEnvironment("Web shop", "staging");
  for (const name of ["production", "demo"]) {
    await api.createEnvironment("Web shop", name);
  }
  await signIn(page, server);
  await page.goto("/dashboard/environments");
  await scriptsReady(page);
  const handle = page.getByRole("row", { name: "demo" }).getByTitle("Drag to reorder");
  const first = page.getByRole("row", { name: "staging" });
  const start = await handle.boundingBox();
  const end = await first.boundingBox();
  await page.mouse.move((start?.x ?? 0) + 5, (start?.y ?? 0) + 5);
  await page.mouse.down();
  // Beyond the first environment, into another product.
  await page.mouse.move((start?.x ?? 0) + 5, (end?.y ?? 0) - 60, { steps: 20 });
  await expect(namesOf(page)).toHaveText(["production", "demo", "staging", "production"]);
  // A change of the list by somebody else waits for the end of the drag.
  await api.renameEnvironment(staging, "preview");
  await expect(page.locator(".bars")).toContainText("while you were editing");
  await expect(namesOf(page)).toHaveText(["production", "demo", "staging", "production"]);
  const saved = page.waitForEvent("load");
  await page.mouse.up();
  await saved;
  await expect(namesOf(page)).toHaveText(["production", "demo", "preview", "production"]);
});

test("a handle that is released at its place saves nothing, and the list stays up to date", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  await signIn(page, server);
  await page.goto("/dashboard/environments");
  await scriptsReady(page);
  let posts = 0;
  page.on("request", (request) => {
    posts += request.method() === "POST" ? 1 : 0;
  });
  const handle = page.getByRole("row", { name: "production" }).getByTitle("Drag to reorder");
  await handle.hover();
  await page.mouse.down();
  await api.createEnvironment("Blog", "live");
  await expect(page.getByRole("row", { name: "live" })).toBeVisible();
  await page.mouse.up();
  await api.createEnvironment("Web shop", "demo");
  await expect(namesOf(page)).toHaveText(["live", "staging", "production", "demo"]);
  expect(posts).toBe(0);
});

test("the right mouse button drags nothing", { tag: "@scripts" }, async ({ page, server, api }) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  await signIn(page, server);
  await page.goto("/dashboard/environments");
  await scriptsReady(page);
  const first = await page.getByRole("row", { name: "staging" }).boundingBox();
  await page.getByRole("row", { name: "production" }).getByTitle("Drag to reorder").hover();
  await page.mouse.down({ button: "right" });
  await page.mouse.move(first?.x ?? 0, first?.y ?? 0, { steps: 8 });
  await expect(namesOf(page)).toHaveText(["staging", "production"]);
  await page.mouse.up({ button: "right" });
});

test("an open page follows the order", { tag: "@scripts" }, async ({
  page,
  context,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  await signIn(page, server);
  await page.goto("/dashboard/environments");
  await scriptsReady(page);
  const other = await context.newPage();
  await other.goto("/dashboard/environments");
  await other.getByRole("button", { name: "Move production up" }).click();
  await expect(namesOf(page)).toHaveText(["production", "staging"]);
  await expectAccessible(page);
  await other.close();
});
