import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build, type InlineConfig, type PreviewServer, preview } from "vite";
import type { Api, Environment, Flag } from "../support/api.ts";
import type { Server } from "../support/server.ts";
import { expect, signIn, test } from "../support/test.ts";

const root = fileURLToPath(new URL("../../examples/react-vite", import.meta.url));

/** A banner for all, and a new checkout for those with a bucket below 64. */
async function flags(api: Api): Promise<{ environment: Environment; banner: Flag }> {
  const environment = await api.createEnvironment("Web shop", "production");
  const banner = await api.createFlag("banner", "Banner");
  const checkout = await api.createFlag("new_checkout", "New checkout");
  await api.switch(banner, environment, true);
  await api.switch(checkout, environment, true);
  await api.rollOut(checkout, environment, 64);
  return { environment, banner };
}

/** The example as it is deployed, from a folder of its own, and allowed no more than it needs. */
async function served(
  outDir: string,
  server: Server,
  { sdkKey }: Environment,
): Promise<PreviewServer> {
  Object.assign(process.env, { PENNON_URL: server.url, PENNON_SDK_KEY: sdkKey });
  const config: InlineConfig = { root, logLevel: "warn", build: { outDir, emptyOutDir: true } };
  await build(config);
  const headers = {
    "content-security-policy": `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src data:; connect-src ${server.url}`,
  };
  return preview({ ...config, preview: { host: "127.0.0.1", port: 0, headers } });
}

test(
  "a React page follows the dashboard without being loaded anew",
  { tag: "@scripts" },
  async ({ page, context, server, api }, testInfo) => {
    const { environment } = await flags(api);
    const shop = await served(testInfo.outputPath("shop"), server, environment);
    try {
      const { port } = shop.httpServer.address() as AddressInfo;
      await page.goto(`http://127.0.0.1:${port}`);
      await expect(page.getByRole("status")).toHaveText("The flags are up to date.");
      await expect(page.getByText("Free delivery")).toBeVisible();
      // The bucket of "ada" is 63, that of "linus" 72.
      await expect(page.getByRole("button", { name: "Buy now" })).toBeVisible();
      await page.getByLabel("Signed in as").selectOption("linus");
      await expect(page.getByRole("button", { name: "Check out" })).toBeVisible();
      await expect(page.getByText("rollout")).toBeVisible();

      const dashboard = await context.newPage();
      await signIn(dashboard, server);
      await dashboard.goto("/dashboard/flags");
      await dashboard.getByRole("switch", { name: /banner/i }).click();
      await expect(page.getByText("Free delivery")).toBeHidden();
      await expect(page.getByRole("row", { name: "banner off" })).toBeVisible();
      // It has not been loaded anew, or it would have forgotten who is signed in.
      await expect(page.getByLabel("Signed in as")).toHaveValue("linus");
    } finally {
      await shop.close();
    }
  },
);
