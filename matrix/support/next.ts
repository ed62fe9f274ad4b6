import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { expect } from "vitest";
import { consoleMessagesOf } from "./browser.ts";
import { Child } from "./child.ts";
import { run } from "./run.ts";
import { expectVectors } from "./vectors.ts";

/** The SDK key that must stay on the server, and the one that may be public. */
const keys = {
  PENNON_SDK_KEY: "secret-bucketing.json",
  NEXT_PUBLIC_PENNON_SDK_KEY: "bucketing.json",
};

/** Runs `next build`. */
export async function buildNext(cwd: string, ...options: readonly string[]): Promise<void> {
  await run(next(cwd), ["build", ...options], { cwd, env: keys });
}

/** Runs `next start` in an application that has been built. Its pages use this Pennon server. */
export function startNext(cwd: string, baseUrl: string): Promise<Child> {
  const listening = /http:\/\/127\.0\.0\.1:([1-9]\d*).*Ready/s;
  const arguments_ = ["start", "--hostname", "127.0.0.1", "--port", "0"];
  return Child.start(next(cwd), arguments_, listening, {
    cwd,
    env: { ...keys, PENNON_URL: baseUrl },
  });
}

/** Returns the Next.js executable next to which an application was created. */
function next(application: string): string {
  return join(application, "../../node_modules/.bin/next");
}

/** Expects the right evaluations from the page's server component. */
export async function expectRightPage(url: string): Promise<void> {
  const html = await (await fetch(url)).text();
  const output = /<pre>(.*?)<\/pre>/.exec(html)?.[1]?.replaceAll("&quot;", '"');
  expectVectors(output, "wasm");
}

/** The users in the rollout of `per-user-99` (`true`) and outside it (`false`): see `tests/vectors/bucketing.json`. */
export const users = { "user-63": true, "user-42": false };

/**
 * Opens a page with flags, and expects the same content before and after hydration, and no errors or console messages.
 */
export async function expectNoFlicker(browser: Browser, url: string, isOn: boolean): Promise<void> {
  const html = await (await fetch(url)).text();
  expect(html).toMatch(`<pre>${isOn}</pre><output>${isOn}</output>`);
  expect(html).not.toContain(keys.PENNON_SDK_KEY);
  const page = await browser.newPage();
  try {
    const messages = consoleMessagesOf(page);
    await page.goto(url);
    await page.locator("body[data-ready=true]").waitFor();
    expect(await page.locator("output").textContent()).toBe(String(isOn));
    const renders: unknown[] = await page.evaluate("window.renders");
    expect(new Set(renders)).toEqual(new Set([isOn]));
    await page.getByRole("button").click();
    await page.locator("button:not(:empty)").waitFor();
    expect(await page.getByRole("button").textContent()).toBe(String(isOn));
    expect(messages).toEqual([]);
  } finally {
    await page.close();
  }
}

/** Expects the files that browsers load to contain the page's SDK key, and not the server's. */
export function expectNoSecret(folder: string): void {
  const loaded = join(folder, ".next/static");
  const texts = readdirSync(loaded, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), "utf8"));
  const contain = (text: string) => texts.some((loaded) => loaded.includes(text));
  expect(contain(`"${keys.NEXT_PUBLIC_PENNON_SDK_KEY}"`)).toBe(true);
  expect(contain(keys.PENNON_SDK_KEY)).toBe(false);
  expect(contain("PENNON_SDK_KEY")).toBe(false);
}

/** Expects the right values from Vercel's Flags SDK, and a definition of the flag for the Flags Explorer. */
export async function expectFlagsSdk(url: string, baseUrl: string): Promise<void> {
  for (const [user, isOn] of Object.entries(users)) {
    const page = await fetch(`${url}/declared`, { headers: { "X-User": user } });
    expect(await page.text()).toMatch(`<pre>${isOn}</pre>`);
  }
  const { definitions } = await (await fetch(`${url}/explorer`)).json();
  const origin = `${baseUrl}/dashboard/flags?q=per-user-99`;
  expect(definitions["per-user-99"]).toMatchObject({ origin });
}
