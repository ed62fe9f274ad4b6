import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, expect as expectOf } from "@playwright/test";
import { expect, inject } from "vitest";
import { warningsOf } from "./browser.ts";
import { Child } from "./child.ts";
import { type FakeServer, LIVE } from "./fake-server.ts";
import { toolsFolder } from "./tool.ts";
import { install } from "./workshop.ts";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));

/** Folders that are built or installed, and are not part of an example. */
const generated = ["node_modules", "dist", ".next"];

/** The timeout for a change to appear, which the stream announces at once. */
const soon = { timeout: 10_000 };

interface Manifest {
  dependencies?: Readonly<Record<string, string>>;
  devDependencies?: Readonly<Record<string, string>>;
}

/**
 * Creates a copy of an example outside the repository, with the packages' tarballs installed. Its other dependencies
 * are among the tools, in the versions that it names.
 */
export async function newExample(name: string): Promise<string> {
  const folder = await mkdtemp(join(inject("applications"), `${name}-`));
  const filter = (path: string) => !generated.includes(basename(path));
  await cp(join(examples, name), folder, { recursive: true, filter });
  const manifest = join(folder, "package.json");
  const { dependencies, devDependencies, ...rest }: Manifest = await read(manifest);
  const tools: Manifest = await read(join(toolsFolder(), "../package.json"));
  const required = Object.entries({ ...dependencies, ...devDependencies });
  const isOurs = ([dependency]: readonly [string, string]) => dependency.startsWith("@pennon/");
  expect({ ...tools.dependencies, ...tools.devDependencies }).toMatchObject(
    Object.fromEntries(required.filter((entry) => !isOurs(entry))),
  );
  await writeFile(manifest, JSON.stringify(rest));
  const tarballs = inject("tarballs");
  const ours = required.filter(isOurs).map(([dependency]) => dependency.replace("@pennon/", ""));
  await install(
    ours.flatMap((name) => tarballs[name] ?? []),
    folder,
  );
  return folder;
}

async function read(file: string): Promise<Manifest> {
  return JSON.parse(await readFile(file, "utf8"));
}

/** Returns the variables that configure an example for its Pennon server. */
export function settings(baseUrl: string): Record<string, string> {
  return {
    PENNON_SDK_KEY: LIVE,
    PENNON_URL: baseUrl,
    VITE_PENNON_SDK_KEY: LIVE,
    VITE_PENNON_URL: baseUrl,
    PORT: "0",
  };
}

/** Starts an example with a command from its README, and waits until it prints its address. */
export function start(
  cwd: string,
  [program, ...arguments_]: readonly [string, ...string[]],
  env: Record<string, string>,
): Promise<Child> {
  return Child.start(program, arguments_, /http:\/\/127\.0\.0\.1:(\d+)/, { cwd, env });
}

/** Serves the flags of the examples: a banner, and a new checkout that is on for "ada" and off for "linus". */
export function serveShop(server: FakeServer, banner: boolean): void {
  const flag = { rules: [], rollout: null, ttlOverrideSeconds: null };
  server.change([
    { ...flag, key: "banner", enabled: banner },
    {
      ...flag,
      key: "new_checkout",
      enabled: true,
      rollout: { percentage: 64, strategy: "per_user" },
    },
  ]);
}

/** Expects an API to follow the flags, evaluated for the user of each request. */
export async function expectApi(url: string, server: FakeServer): Promise<void> {
  const get = (path: string, user: string) =>
    fetch(`${url}/${path}`, { headers: { "X-User": user } });
  const banner = async () => (await get("banner", "ada")).json();
  expect(await (await get("checkout", "ada")).json()).toEqual({ checkout: "new" });
  expect((await get("checkout", "linus")).status).toBe(404);
  expect(await (await get("flags", "linus")).json()).toEqual({
    banner: { enabled: true, reason: "flag_enabled" },
    new_checkout: { enabled: false, reason: "rollout" },
  });
  expect(await banner()).toEqual({ banner: "Everything must go" });
  serveShop(server, false);
  await expect.poll(banner, soon).toEqual({ banner: null });
}

/**
 * Expects a page to follow the flags without a reload, evaluated for the signed-in user, and to report no errors or
 * warnings.
 */
export async function expectPage(browser: Browser, url: string, server: FakeServer): Promise<void> {
  const page = await browser.newPage();
  const warnings = warningsOf(page);
  try {
    await page.goto(url);
    const expectText = (text: string) =>
      expectOf(page.locator("body")).toContainText(text, { timeout: 60_000 });
    await expectText("The flags are up to date.");
    await expectText("Free delivery");
    await expectText("Buy now");
    await page.getByLabel("Signed in as").selectOption("linus");
    await expectText("Check out");
    serveShop(server, false);
    await expectOf(page.getByText("Free delivery")).toBeHidden(soon);
    // A reload would have reset the signed-in user.
    await expectOf(page.getByLabel("Signed in as")).toHaveValue("linus");
    expect(warnings).toEqual([]);
  } finally {
    await page.close();
  }
}

/** Expects the same of a page that is rendered on a server. */
export async function expectRenderedPage(
  browser: Browser,
  url: string,
  server: FakeServer,
): Promise<void> {
  const page = await browser.newPage();
  const warnings = warningsOf(page);
  try {
    const followed = page.waitForResponse(`${url}/flags`);
    await page.goto(url);
    await followed;
    const offer = page.getByText("Free delivery");
    await expectOf(offer).toBeVisible();
    await page.getByRole("button", { name: "linus" }).click();
    await expectOf(page.getByRole("link", { name: "Check out" })).toBeVisible(soon);
    const loaded = await page.evaluate("performance.timeOrigin");
    serveShop(server, false);
    await expectOf(offer).toBeHidden(soon);
    expect(await page.evaluate("performance.timeOrigin")).toBe(loaded);
    await page.getByRole("link").click();
    await expectOf(page.getByText("Step 1 of 5")).toBeVisible(soon);
    await page.context().clearCookies();
    await page.reload();
    await expectOf(page.getByText("Done with one click")).toBeVisible(soon);
    expect(warnings).toEqual([]);
  } finally {
    await page.close();
  }
}
