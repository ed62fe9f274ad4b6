import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Locator, Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { evaluate, fetchAs } from "../support/api.ts";
import { openEnvironment } from "../support/environment-page.ts";
import { hold } from "../support/hold.ts";
import { expect, scriptsReady, signIn, test } from "../support/test.ts";

const run = promisify(execFile);

type Danger = "Rotate key" | "Revoke environment";

/** Opens one of the forms for destructive actions, and fills it in. Returns the button that submits it. */
async function fillInDanger(page: Page, act: Danger, typed: string): Promise<Locator> {
  const zone = page.getByRole("group").filter({ hasText: `${act}…` });
  await zone.getByText(`${act}…`).click();
  await expect(zone).toContainText("No application has used this key yet.");
  await zone.getByLabel("Environment name").fill(typed);
  return zone.getByRole("button", { name: act });
}

async function submitDanger(page: Page, act: Danger, typed: string): Promise<void> {
  const button = await fillInDanger(page, act, typed);
  await button.click();
}

async function shownKey(page: Page): Promise<string> {
  const key = page.getByRole("region", { name: "SDK key" }).getByText(/^pnk_[\w-]{43}$/);
  return key.innerText();
}

test("a renamed environment keeps its key", async ({ page, server, api }) => {
  const { sdkKey } = await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  await page.getByLabel("Name", { exact: true }).fill("acceptance");
  await page.getByRole("button", { name: "Rename" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toContainText("acceptance");
  await expect(page).toHaveTitle("acceptance · Environments · Pennon");
  expect(await evaluate(server, sdkKey, "new_checkout")).toMatchObject({ enabled: false });
});

test("the name of another environment is refused, and the input is kept", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  await api.createEnvironment("Web shop", "staging");
  await api.createEnvironment("Web shop", "production");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  await page.getByLabel("Name", { exact: true }).fill("production");
  await page.getByRole("button", { name: "Rename" }).click();

  const name = page.getByLabel("Name", { exact: true });
  await expect(name).toHaveAttribute("aria-invalid", "true");
  await expect(name).toHaveValue("production");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("staging");
});

test("a concurrent change is not overwritten", async ({
  page,
  context,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  // A field that is being edited does not follow changes by others.
  await page.getByLabel("Name", { exact: true }).fill("integration");
  const other = await context.newPage();
  await openEnvironment(other, "staging");
  await other.getByLabel("Name", { exact: true }).fill("acceptance");
  await other.getByRole("button", { name: "Rename" }).click();
  await expect(other.getByRole("heading", { level: 1 })).toContainText("acceptance");

  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByText("Somebody else changed this first")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("acceptance");
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("integration");
});

test("a form of an environment that was revoked meanwhile says that nothing was changed", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const staging = await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  await page.getByLabel("Name", { exact: true }).fill("integration");
  await api.revoke(staging);
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("alert")).toContainText("Nothing was saved");
  await expect(page.getByText("This environment is revoked.")).toBeVisible();
});

test("a rotated key is refused, and the new one works and is shown once", async ({
  page,
  server,
  api,
}) => {
  const old = await api.createEnvironment("Web shop", "staging");
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.switch(flag, old, true);
  await signIn(page, server);
  await openEnvironment(page, "staging");
  await submitDanger(page, "Rotate key", "staging");

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("staging has a new key");
  const key = await shownKey(page);
  await expect.poll(() => evaluate(server, key, "new_checkout")).toMatchObject({ enabled: true });
  await expect(evaluate(server, old.sdkKey, "new_checkout")).rejects.toThrow("401");

  await page.getByRole("link", { name: "I have stored the key" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("staging");
  expect(await page.content()).not.toContain(key.slice(13));
});

test("a second press on a slow line does not lose the new key", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  let posts = 0;
  page.on("request", (request) => {
    posts += request.method() === "POST" ? 1 : 0;
  });
  const button = await fillInDanger(page, "Rotate key", "staging");
  const release = await hold(page, "**/dashboard/environments/**");
  // In one script, because Playwright waits for the page that a press leads to. The pause is that of a person.
  const busy = await button.evaluate(async (element: HTMLElement) => {
    element.click();
    await new Promise((resolve) => setTimeout(resolve, 100));
    element.click();
    return element.ariaBusy;
  });
  expect(busy).toBe("true");
  release();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("staging has a new key");
  expect(await shownKey(page)).toMatch(/^pnk_/);
  expect(posts).toBe(1);
});

test("an old key overlaps with the new one, and ends early", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 400/);
  const old = await api.createEnvironment("Web shop", "staging");
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.switch(flag, old, true);
  await signIn(page, server);
  await openEnvironment(page, "staging");
  const zone = page.getByRole("group").filter({ hasText: "Rotate key…" });
  await zone.getByText("Rotate key…").click();
  await expect(zone.getByLabel("Old key")).toHaveValue("0");
  await zone.getByLabel("Old key").selectOption({ label: "Accept it for 1 day" });
  await zone.getByLabel("Environment name").fill("production");
  await zone.getByRole("button", { name: "Rotate key" }).click();
  await expect(zone).toContainText("Must be staging");
  await expect(zone.getByLabel("Old key")).toHaveValue("86400");
  await zone.getByLabel("Environment name").fill("staging");
  await zone.getByRole("button", { name: "Rotate key" }).click();
  await expect(page.getByText(/The old key, .*…, works until \d{4}-\d{2}-\d{2}/)).toBeVisible();
  const key = await shownKey(page);
  for (const working of [old.sdkKey, key]) {
    expect(await evaluate(server, working, "new_checkout")).toMatchObject({ enabled: true });
  }

  await page.getByRole("link", { name: "I have stored the key" }).click();
  const section = page.getByRole("region", { name: "Previous key" });
  await expect(section).toContainText(
    `${old.sdkKey.slice(0, 12)}… was rotated, and still works until`,
  );
  await page.goto(`/dashboard/environments/${old.id}`);
  await expect(page.getByText("This environment is revoked")).toBeVisible();
  await expect(page.getByText("never works again")).toHaveCount(0);
  await page.getByRole("link", { name: "the environment with the new key" }).click();
  await section.getByRole("button", { name: "End now" }).first().click();
  const confirmation = page.getByRole("dialog", { name: "End now" });
  await confirmation.getByRole("button", { name: "End now" }).click();
  await expect(section).toHaveCount(0);
  await expect(evaluate(server, old.sdkKey, "new_checkout")).rejects.toThrow("401");
  expect(await evaluate(server, key, "new_checkout")).toMatchObject({ enabled: true });
  await page.goto("/dashboard/audit");
  await expect(page.getByText("ended the previous SDK key of staging")).toBeVisible();
  await expect(page.locator(".timeline")).not.toContainText(/\dT\d\d:/);
});

test("leaving the page with the new key asks for confirmation", { tag: "@scripts" }, async ({
  page,
  server,
}) => {
  await signIn(page, server);
  await page.goto("/dashboard/environments/new");
  await page.getByLabel("Product").fill("Web shop");
  await page.getByLabel("Name").fill("staging");
  await page.getByRole("button", { name: "Create environment" }).click();
  await scriptsReady(page);
  await page.getByText("React", { exact: true }).click();

  const opened = page.waitForEvent("dialog");
  const left = page.getByRole("link", { name: "Flags", exact: true }).click();
  const dialog = await opened;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
  await left;
  expect(await shownKey(page)).toMatch(/^pnk_/);

  page.on("dialog", (question) => question.dismiss());
  await page.getByRole("link", { name: "I have stored the key" }).click();
  await expect(page.getByRole("region", { name: "SDK key" })).toHaveCount(0);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("staging");
});

test("a revoked environment is read-only", async ({ page, server, api }) => {
  const { sdkKey } = await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  await submitDanger(page, "Revoke environment", "staging");

  await expect(page.getByText("This environment is revoked.")).toBeVisible();
  await expect(page.getByRole("button", { name: /Rename|Rotate|Revoke/ })).toHaveCount(0);
  await expect(evaluate(server, sdkKey, "new_checkout")).rejects.toThrow("401");

  await page.goto("/dashboard/environments");
  await expect(page.getByRole("row", { name: "staging" })).toHaveCount(0);
  await page.getByRole("link", { name: "Revoked" }).click();
  await expect(page.getByRole("row", { name: "staging" })).toContainText("Web shop");
});

test("revoking requires the environment's name", async ({ page, server, api, browserErrors }) => {
  browserErrors.ignore(/status of 400/);
  const { sdkKey } = await api.createEnvironment("Web shop", "staging");
  await api.createFlag("new_checkout", "New checkout");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  await submitDanger(page, "Revoke environment", "production");

  const name = page.getByRole("textbox", { name: "Environment name" });
  await expect(name).toHaveCount(1);
  await expect(name).toHaveValue("production");
  await expect(name).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByText("Must be staging.")).toBeVisible();
  expect(await evaluate(server, sdkKey, "new_checkout")).toMatchObject({ enabled: false });
});

test("the list is grouped by product, and shows the clients that poll", async ({
  page,
  server,
  api,
}) => {
  const polled = await api.createEnvironment("Web shop", "production");
  await api.createEnvironment("Mobile app", "beta");
  const first = await fetch(`${server.url}/sdk/v1/config`, {
    headers: { authorization: `Bearer ${polled.sdkKey}` },
  });
  const etag = first.headers.get("etag") ?? "";
  for (const tag of [etag, etag, etag, '"older"']) {
    await fetch(`${server.url}/sdk/v1/config`, {
      headers: { authorization: `Bearer ${polled.sdkKey}`, "if-none-match": tag },
    });
  }
  await server.restart();
  await signIn(page, server);
  await page.goto("/dashboard/environments");

  await expect(page.getByRole("rowheader")).toHaveText([
    "Mobile app",
    "beta",
    "Web shop",
    "production",
  ]);
  await expect(page.getByRole("row", { name: "beta" })).toContainText("No polls in 24h");
  const row = page.getByRole("row", { name: "production" });
  await expect(row).toContainText("just now");
  await expect(row).toContainText("75%");

  await openEnvironment(page, "production");
  await page.getByText("Rotate key…").click();
  await expect(
    page.getByText(/It was last used just now; flags were fetched 5 times/).first(),
  ).toBeVisible();
});

test("the Node.js snippets install the client from this server and evaluate a flag", async ({
  page,
  server,
  api,
}, { outputDir }) => {
  const environment = await api.createEnvironment("Web shop", "staging");
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.switch(flag, environment, true);
  const token = await api.createToken("npm");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  await page.getByText("Node.js", { exact: true }).click();
  const tab = page.getByRole("region", { name: "Node.js" });
  await expect(tab).toBeVisible();
  const snippet = (title: string) =>
    tab.getByRole("figure").filter({ hasText: title }).locator("pre").innerText();

  const home = join(outputDir, "home");
  const folder = join(outputDir, "application");
  await mkdir(home, { recursive: true });
  await mkdir(folder, { recursive: true });
  const tokenLine = (await snippet("~/.npmrc")).replace("pnt_your_token", token);
  await writeFile(join(home, ".npmrc"), tokenLine);
  await writeFile(join(folder, ".npmrc"), await tab.locator("pre").first().innerText());
  await writeFile(join(folder, "package.json"), "{}");
  await writeFile(join(folder, "flags.mjs"), await snippet("flags.mjs"));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    npm_config_userconfig: join(home, ".npmrc"),
    PENNON_SDK_KEY: environment.sdkKey,
  };
  const [install] = (await snippet("Shell")).split("\n");
  const [program = "", ...arguments_] = install?.split(" ") ?? [];
  await run(program, [...arguments_, "--no-audit", "--no-fund"], { cwd: folder, env });
  const { stdout } = await run(process.execPath, ["flags.mjs"], { cwd: folder, env });
  expect(stdout).toBe("true\n");
});

test("snippets depend on the language, and never contain an existing environment's key", async ({
  page,
  server,
  api,
}) => {
  const { sdkKey } = await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  for (const language of [
    "curl",
    "Node.js",
    "Browser",
    "React",
    "Next.js",
    "NestJS",
    "OpenFeature",
  ]) {
    await page.getByText(language, { exact: true }).first().click();
    const tab = page.getByRole("region", { name: language, exact: true });
    await expect(tab).toBeVisible();
    await expect(page.locator(".tab").filter({ visible: true })).toHaveCount(1);
    await expect(tab.locator("pre").last()).toContainText(/new_checkout|useFlag/);
  }
  expect(await page.content()).not.toContain(sdkKey.slice(13));
});

test("the clients in use are listed with their versions", async ({ page, server, api }) => {
  const { sdkKey } = await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await openEnvironment(page, "staging");
  const clients = page.getByRole("region", { name: "Clients" });
  await expect(clients).toContainText("No client has fetched flags here in the last 31 days.");
  await expect(clients.getByRole("table")).toHaveCount(0);

  await fetchAs(server, sdkKey, "@pennon/react/0.1.0");
  await fetchAs(server, sdkKey, "@pennon/react/0.1.0");
  await fetchAs(server, sdkKey, "@pennon/core/99.0.0");
  await fetchAs(server, sdkKey, "<b>invented</b>");
  await server.restart();
  await page.reload();
  const rows = clients.getByRole("row");
  await expect(rows).toHaveText([
    /Client.*Version.*Requests.*Last seen/,
    /@pennon\/core.*Newer than this server.*1 fetch.*just now/,
    /@pennon\/react.*0\.1\.0.*2 fetches.*just now/,
    /Other clients.*Unknown.*1 fetch.*just now/,
  ]);
});

test("the page lists the most recently seen clients", async ({ page, server, api }) => {
  const { sdkKey } = await api.createEnvironment("Web shop", "staging");
  for (let patch = 0; patch < 30; patch += 1) {
    await fetchAs(server, sdkKey, `@pennon/core/0.0.${patch}`);
  }
  await server.restart();
  await signIn(page, server);
  await openEnvironment(page, "staging");
  const clients = page.getByRole("region", { name: "Clients" });
  await expect(clients.getByRole("row")).toHaveCount(11);
  await expect(clients).toContainText("The 10 most recently seen of 30.");
});

test("an environment is cloned with its flags, and the new key is shown once", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const staging = await api.createEnvironment("Web shop", "staging");
  const flag = await api.createFlag("new_checkout", "New checkout");
  await api.switch(flag, staging, true);
  await signIn(page, server);
  await openEnvironment(page, "staging");
  await page.getByRole("link", { name: "Clone" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Clone staging");
  await expect(page.getByLabel("Product")).toHaveValue("Web shop");
  await page.getByLabel("Name", { exact: true }).fill("staging");
  await page.getByRole("button", { name: "Clone environment" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveAttribute("aria-invalid", "true");
  await page.getByLabel("Name", { exact: true }).fill("load test");
  await page.getByRole("button", { name: "Clone environment" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("load test is ready");
  const region = page.getByRole("region", { name: "SDK key" });
  const key = await region.getByText(/^pnk_[\w-]{43}$/).innerText();
  expect(await evaluate(server, key, "new_checkout")).toMatchObject({ enabled: true });
  await page.getByRole("link", { name: "I have stored the key" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("load test");
  expect(await page.content()).not.toContain(key.slice(13));
});

test("the form that clones an environment is accessible", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  const web = await api.createPublicEnvironment("Web shop", "web", "answers");
  await signIn(page, server);
  await page.goto(`/dashboard/environments/${web.id}/clone`);
  await expect(page.getByLabel("Answers")).toBeChecked();
  await expectAccessible(page);
});
