import { test as base, expect, type Page } from "@playwright/test";
import { type Account, Api } from "./api.ts";
import { Complaints } from "./complaints.ts";
import { Server } from "./server.ts";

export { expect };

type Fixtures = {
  /** A server of this test's own. */
  server: Server;
  /** That server's REST API, as its first admin. */
  api: Api;
  /** What the browser found fault with. A test that ends with any has failed. */
  complaints: Complaints;
};

export const test = base.extend<Fixtures>({
  // Playwright reads the names of the fixtures that are wanted from this pattern: none.
  server: async ({}, use, { parallelIndex }) => {
    const server = await Server.create(parallelIndex);
    await use(server);
    await server.dispose();
    expect(server.panics).toEqual([]);
  },
  api: async ({ server }, use) => use(await Api.signIn(server)),
  baseURL: async ({ server }, use) => use(server.url),
  complaints: [
    async ({ page, javaScriptEnabled }, use) => {
      const complaints = new Complaints();
      if (!javaScriptEnabled) {
        // The preload of the script, which carries a nonce that nobody checks when scripts are off.
        complaints.forgive(/preload|Content Security Policy/i);
      }
      await complaints.listenTo(page);
      await use(complaints);
      expect(complaints.unforgiven).toEqual([]);
    },
    { auto: true },
  ],
});

/**
 * Signs in on whatever page asks for it. When none is open it sends the form by itself and opens the first page: a test of
 * something else does not wait for the page with the form.
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

/** Delays hydration until the function that it returns is called. */
export async function delayHydration(page: Page): Promise<() => void> {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/*.wasm", async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/** Does what somebody does to sign in, who may be refused. */
export async function trySignIn(page: Page, { email, password }: Account): Promise<void> {
  if (page.url() === "about:blank") {
    await page.goto("/dashboard");
  }
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}
