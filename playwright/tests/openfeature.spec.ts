import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OpenFeature } from "@openfeature/server-sdk";
import { build } from "esbuild";
import type { Api, Environment, Flag } from "../support/api.ts";
import type { Server } from "../support/server.ts";
import { expect, test } from "../support/test.ts";

/** Creates a flag that is on in DE from 10 seats on and for buckets below 64, and a flag that is on for everyone. */
async function targetedFlag(api: Api): Promise<{ environment: Environment; banner: Flag }> {
  const environment = await api.createEnvironment("Web shop", "production");
  const checkout = await api.createFlag("new_checkout", "New checkout");
  const banner = await api.createFlag("banner", "Banner");
  await api.switch(checkout, environment, true);
  await api.switch(banner, environment, true);
  await api.addRule(checkout, environment, {
    priority: 1,
    logic: "and",
    value: true,
    conditions: [
      { attribute: "country", operator: "==", valueType: "string", valueString: "DE" },
      { attribute: "seats", operator: ">=", valueType: "number", valueInt: 10 },
    ],
  });
  await api.setRollout(checkout, environment, 64);
  return { environment, banner };
}

function serverProvider(server: Server, sdkKey: string): OFREPProvider {
  return new OFREPProvider({
    baseUrl: server.url,
    headers: [["Authorization", `Bearer ${sdkKey}`]],
  });
}

test("OpenFeature's provider for servers evaluates flags", { tag: "@scripts" }, async ({
  server,
  api,
}) => {
  const { environment } = await targetedFlag(api);
  await OpenFeature.setProviderAndWait("asks", serverProvider(server, environment.sdkKey));
  const client = OpenFeature.getClient("asks");

  const german = { targetingKey: "linus", country: "DE", seats: 12 };
  expect(await client.getBooleanDetails("new_checkout", false, german)).toMatchObject({
    value: true,
    variant: "on",
    reason: "TARGETING_MATCH",
    flagMetadata: { reason: "targeting_rule" },
  });
  // The bucket of "ada" is 63, and that of "linus" is 72.
  const flagMetadata = { reason: "rollout" };
  const ada = await client.getBooleanDetails("new_checkout", false, { targetingKey: "ada" });
  expect(ada).toMatchObject({ value: true, reason: "SPLIT", flagMetadata });
  const linus = await client.getBooleanDetails("new_checkout", true, { targetingKey: "linus" });
  expect(linus).toMatchObject({ value: false, reason: "SPLIT", flagMetadata });
  expect(await client.getBooleanDetails("banner", false)).toMatchObject({
    value: true,
    reason: "STATIC",
  });
});

test("OpenFeature's provider for servers understands errors", {
  tag: "@scripts",
}, async ({ server, api }) => {
  const { environment } = await targetedFlag(api);
  await OpenFeature.setProviderAndWait("refused", serverProvider(server, environment.sdkKey));
  const client = OpenFeature.getClient("refused");
  expect(await client.getBooleanDetails("nothing", true)).toMatchObject({
    value: true,
    reason: "ERROR",
    errorCode: "FLAG_NOT_FOUND",
  });
  const bad = { targetingKey: "ada", email: "not an address" };
  expect(await client.getBooleanDetails("banner", false, bad)).toMatchObject({
    value: false,
    errorCode: "INVALID_CONTEXT",
    errorMessage: "/context/email must be an e-mail address",
  });
  expect(await client.getStringDetails("banner", "none")).toMatchObject({
    value: "none",
    errorCode: "TYPE_MISMATCH",
  });
  await OpenFeature.setProviderAndWait("stranger", serverProvider(server, "pnk_unknown"));
  const stranger = await OpenFeature.getClient("stranger").getBooleanDetails("banner", false);
  expect(stranger).toMatchObject({ value: false, reason: "ERROR", errorCode: "GENERAL" });
});

/** The script of a page that shows flags as evaluated by OpenFeature's provider for browsers. */
const script = `
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature, ProviderEvents } from "@openfeature/web-sdk";

const { baseUrl, sdkKey } = JSON.parse(document.body.dataset.settings);
const client = OpenFeature.getClient();
const show = () => {
  for (const key of ["new_checkout", "banner"]) {
    const { value, reason } = client.getBooleanDetails(key, false);
    document.getElementById(key).textContent = reason + " " + value;
  }
};
client.addHandler(ProviderEvents.ConfigurationChanged, show);
const provider = new OFREPWebProvider({
  baseUrl,
  pollInterval: 200,
  headers: [["X-API-Key", sdkKey]],
});
await OpenFeature.setContext({ targetingKey: "ada" });
await OpenFeature.setProviderAndWait(provider);
show();
document.getElementById("linus").addEventListener("click", async () => {
  await OpenFeature.setContext({ targetingKey: "linus" });
  show();
});
`;

async function serveShop(server: Server, sdkKey: string): Promise<HttpServer> {
  const bundled = await build({
    stdin: { contents: script, resolveDir: import.meta.dirname },
    bundle: true,
    format: "esm",
    write: false,
  });
  const settings = JSON.stringify({ baseUrl: server.url, sdkKey });
  const html = `<!doctype html><title>Shop</title><link rel="icon" href="data:,">
    <body data-settings='${settings}'><p id="new_checkout"></p><p id="banner"></p>
    <button id="linus">Linus</button><script type="module" src="/shop.js"></script>`;
  const pages = createServer((request, response) => {
    const isScript = request.url === "/shop.js";
    const type = isScript ? "text/javascript" : "text/html";
    response.setHeader("content-type", `${type}; charset=utf-8`);
    response.end(isScript ? bundled.outputFiles[0]?.text : html);
  });
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  return pages;
}

test("OpenFeature's provider for browsers works from another origin, and follows changes", {
  tag: "@scripts",
}, async ({ page, server, api }) => {
  const { environment, banner } = await targetedFlag(api);
  const pages = await serveShop(server, environment.sdkKey);
  const polls: number[] = [];
  page.on("response", (response) => {
    if (response.request().method() === "POST") {
      polls.push(response.status());
    }
  });
  try {
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}`);
    await expect(page.locator("#new_checkout")).toHaveText("SPLIT true");
    await expect(page.locator("#banner")).toHaveText("STATIC true");
    await expect.poll(() => polls).toContain(304);
    await api.switch(banner, environment, false);
    await expect(page.locator("#banner")).toHaveText("STATIC false");
    await page.getByRole("button", { name: "Linus" }).click();
    await expect(page.locator("#new_checkout")).toHaveText("SPLIT false");
    expect(new Set(polls)).toEqual(new Set([200, 304]));
  } finally {
    pages.close();
  }
});
