import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { build, type InlineConfig, preview } from "vite";
import { Child } from "../../matrix/support/child.ts";
import { run } from "../../matrix/support/run.ts";
import type { Api, Environment, Flag } from "./api.ts";
import type { Server } from "./server.ts";
import { test as base, scriptsReady } from "./test.ts";

/** A running example that has pages. */
export interface Shop extends AsyncDisposable {
  readonly url: string;
}

/** Starts an example for an environment of the server. The folder is for files of this test. */
type Example<S extends Shop> = (
  server: Server,
  environment: Environment,
  folder: string,
) => Promise<S>;

type Fixtures = {
  /** Starts an example, and stops it at the end of the test. */
  serve: <S extends Shop>(example: Example<S>, environment: Environment) => Promise<S>;
};

export const test = base.extend<Fixtures>({
  serve: async ({ server }, use, testInfo) => {
    const shops: Shop[] = [];
    await use(async (example, environment) => {
      const shop = await example(server, environment, testInfo.outputPath("shop"));
      shops.push(shop);
      return shop;
    });
    for (const shop of shops) {
      await shop[Symbol.asyncDispose]();
    }
  },
  // The pages depend on this fixture and so are closed before a shop stops. An open page would fail to load files.
  baseURL: async ({ baseURL, serve: _ }, use) => use(baseURL),
});

/**
 * Creates a banner that is on for everyone, and a new checkout that is on for buckets below 64. The bucket of "ada" is
 * 63, and that of "linus" is 72.
 */
export async function shopFlags(api: Api): Promise<{ environment: Environment; banner: Flag }> {
  const environment = await api.createEnvironment("Web shop", "production");
  await api.protect(environment);
  const banner = await api.createFlag("banner", "Banner");
  const checkout = await api.createFlag("new_checkout", "New checkout");
  await api.switch(banner, environment, true);
  await api.switch(checkout, environment, true);
  await api.setRollout(checkout, environment, 64);
  return { environment, banner };
}

/** Switches the banner in the dashboard's list of flags, which asks because the environment is protected. */
export async function switchBanner(dashboard: Page): Promise<void> {
  await scriptsReady(dashboard);
  await dashboard.getByRole("switch", { name: "Banner in production" }).click();
  await dashboard.getByRole("button", { name: /^Turn o.+ in production$/ }).click();
}

/**
 * Serves `examples/react-vite` as deployed, from a separate folder, with a content security policy that allows only
 * what it needs.
 */
export async function serveReact(
  server: Server,
  { sdkKey }: Environment,
  outDir: string,
): Promise<Shop> {
  Object.assign(process.env, { VITE_PENNON_URL: server.url, VITE_PENNON_SDK_KEY: sdkKey });
  const root = folderOf("react-vite");
  const config: InlineConfig = { root, logLevel: "warn", build: { outDir, emptyOutDir: true } };
  await build(config);
  const headers = {
    "content-security-policy": `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src data:; connect-src ${server.url}`,
  };
  const shop = await preview({ ...config, preview: { host: "127.0.0.1", port: 0, headers } });
  const { port } = shop.httpServer.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => shop.close() };
}

/** Serves `examples/browser-plain`, with the content security policy that it defines. */
export function servePlain(server: Server, { sdkKey }: Environment): Promise<Shop> {
  const env = { PENNON_URL: server.url, PENNON_SDK_KEY: sdkKey, PORT: "0" };
  const cwd = folderOf("browser-plain");
  return Child.start(process.execPath, ["serve.js"], /127\.0\.0\.1:(\d+)/, { cwd, env });
}

/** Builds `examples/next-app`, which requires neither a server nor a key. */
export async function buildNext(): Promise<void> {
  const cwd = folderOf("next-app");
  await run(process.execPath, [next(cwd), "build"], { cwd });
}

/** Serves `examples/next-app`, which must have been built before. */
export function serveNext(server: Server, { sdkKey }: Environment): Promise<Child> {
  const cwd = folderOf("next-app");
  const arguments_ = [next(cwd), "start", "--hostname", "127.0.0.1", "--port", "0"];
  const env = { PENNON_URL: server.url, PENNON_SDK_KEY: sdkKey };
  return Child.start(process.execPath, arguments_, /127\.0\.0\.1:([1-9]\d*).*Ready/s, { cwd, env });
}

function next(folder: string): string {
  return createRequire(`${folder}/`).resolve("next/dist/bin/next");
}

function folderOf(example: string): string {
  return fileURLToPath(new URL(`../../examples/${example}`, import.meta.url));
}
