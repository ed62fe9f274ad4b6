import { test as base, expect, type Page } from "@playwright/test";
import { type Account, Api } from "./api.ts";
import { BrowserErrors } from "./browser-errors.ts";
import { Server } from "./server.ts";

export { expect };

type Fixtures = {
  /** The test's own server. */
  server: Server;
  /** The REST API of the server, as its first administrator. */
  api: Api;
  /** The problems that the browser reports. A test fails if any of them remain at its end. */
  browserErrors: BrowserErrors;
};

export const test = base.extend<Fixtures>({
  // Playwright reads the names of the requested fixtures from this pattern: none.
  server: async ({}, use, { parallelIndex }) => {
    const server = await Server.create(parallelIndex);
    await use(server);
    await server.dispose();
    expect(server.panics).toEqual([]);
  },
  api: async ({ server }, use) => use(await Api.signIn(server)),
  baseURL: async ({ server }, use) => use(server.url),
  browserErrors: [
    async ({ page, javaScriptEnabled }, use) => {
      const browserErrors = new BrowserErrors();
      if (!javaScriptEnabled) {
        // The preload of the script has a nonce, which the browser does not check when scripts are off.
        browserErrors.ignore(/preload|Content Security Policy/i);
      }
      await browserErrors.listenTo(page);
      await use(browserErrors);
      expect(browserErrors.unexpected).toEqual([]);
    },
    { auto: true },
  ],
});

/**
 * Signs in on the page that asks for it. If no page is open, sends the form directly and opens the list of flags, so
 * that tests of other features do not wait for the page with the form.
 */
export async function signIn(page: Page, account: Account): Promise<void> {
  if (page.url() === "about:blank") {
    const { email, password } = account;
    await page.request.post("/dashboard/login", {
      form: { "sign-in-email": email, "sign-in-password": password },
      headers: { "sec-fetch-site": "same-origin" },
    });
    await page.goto("/dashboard/flags");
  } else {
    await trySignIn(page, account);
  }
  await page.waitForURL((url) => url.pathname !== "/dashboard/login");
}

/** Waits until the scripts of the page handle its events. Its islands may still be loading. */
export async function scriptsReady(page: Page): Promise<void> {
  await expect(page.locator(":root[data-scripts]")).toBeAttached();
}

/** Fills in and submits the sign-in form. The server may refuse it. */
export async function trySignIn(page: Page, { email, password }: Account): Promise<void> {
  if (page.url() === "about:blank") {
    await page.goto("/dashboard");
  }
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}
