import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import { type Api, evaluate } from "../support/api.ts";
import { openEnvironment } from "../support/environment-page.ts";
import { hold } from "../support/hold.ts";
import { servePlain, test } from "../support/shop.ts";
import { expect, signIn } from "../support/test.ts";

/** Creates a public environment and one for servers, a public flag that is on in the public one, and a secret flag. */
async function fill(api: Api, clientRules: "full" | "answers" = "full") {
  const web = await api.createPublicEnvironment("Web shop", "web", clientRules);
  const staging = await api.createEnvironment("Web shop", "staging");
  const banner = await api.createPublicFlag("banner", "Banner");
  const discount = await api.createFlag("discount", "Discount");
  await api.switch(banner, web, true);
  return { web, staging, banner, discount };
}

async function createFlag(page: Page, name: string, key: string, isPublic: boolean): Promise<void> {
  await page.goto("/dashboard/new-flag");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Key").fill(key);
  await page.getByLabel("Public").setChecked(isPublic);
  await page.getByRole("button", { name: "Create flag" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
}

/** Returns the status of the response to a request for the rules of an environment. */
async function configStatus(url: string, sdkKey: string): Promise<number> {
  const headers = { authorization: `Bearer ${sdkKey}` };
  const answer = await fetch(new URL("/sdk/v1/config", url), { headers });
  return answer.status;
}

test("a public environment has only public flags, and its key reveals only results", async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  await signIn(page, server);
  await page.goto("/dashboard/environments/new");
  await page.getByLabel("Product").fill("Web shop");
  await page.getByLabel("Name").fill("web");
  await expect(page.getByLabel("Server")).toBeChecked();
  await expect(page.getByLabel("Answers")).toBeHidden();
  await page.getByLabel("Public").check();
  await page.getByLabel("Answers").check();
  await page.getByRole("button", { name: "Create environment" }).click();

  const region = page.getByRole("region", { name: "SDK key" });
  const sdkKey = await region.getByText(/^pnp_[\w-]{43}$/).innerText();
  await expect(region).toContainText("It is public");
  await expect(region).not.toContainText("secrets");
  const snippet = page.getByRole("region", { name: "Browser" });
  await expect(snippet).toBeVisible();
  await expect(snippet).toContainText('mode: "remote"');
  await expect(snippet).toContainText(sdkKey);
  expect(await configStatus(server.url, sdkKey)).toBe(403);

  await createFlag(page, "Banner", "banner", true);
  await expect(page.locator(".flag-key")).toContainText("Public");
  const tabs = page.getByRole("navigation", { name: "Environments" }).getByRole("link");
  await expect(tabs).toHaveText([/^staging/, /^web/]);
  await createFlag(page, "Discount", "discount", false);
  await expect(page.locator(".flag-key")).not.toContainText("Public");
  await expect(tabs).toHaveText([/^staging/]);

  await page.goto("/dashboard/flags");
  await expect(page.getByRole("switch", { name: "Banner in web" })).toBeVisible();
  await expect(page.getByRole("switch", { name: "Discount in staging" })).toBeVisible();
  await expect(page.getByRole("switch", { name: "Discount in web" })).toHaveCount(0);
  const row = page.getByRole("row", { name: "Discount" });
  await expect(row.getByTitle(/The flag is not public/)).toHaveCount(1);
  expect(await evaluate(server, sdkKey, "banner")).toMatchObject({ reason: "flag_disabled" });
  await expect(evaluate(server, sdkKey, "discount")).rejects.toThrow(/404/);

  await openEnvironment(page, "web");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Public");
  await expect(page.getByText(/^The keys of 1 public flag and their results/)).toBeVisible();
  await page.goto("/dashboard/environments");
  await expect(page.getByRole("row", { name: "web pnp_" })).toContainText("Public");
  await expect(page.getByRole("row", { name: "staging" })).not.toContainText("Public");
});

test("a flag that is on asks before it leaves public environments", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const { web } = await fill(api);
  await signIn(page, server);
  await page.goto("/dashboard/flags/banner");
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await expect(page.getByLabel("Public")).toBeChecked();
  await page.getByLabel("Public").uncheck();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Not saved.")).toBeVisible();
  await expect(page.getByText("The flag is still on in Web shop/web")).toBeVisible();
  await expect(page.getByLabel("Public")).not.toBeChecked();
  expect((await evaluate(server, web.sdkKey, "banner")).enabled).toBe(true);

  await page.getByLabel("Switch it off there and save").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("link", { name: "Edit", exact: true })).toBeVisible();
  await expect(page.locator(".flag-key")).not.toContainText("Public");
  const tabs = page.getByRole("navigation", { name: "Environments" }).getByRole("link");
  await expect(tabs).toHaveText([/^staging/]);
  await expect(evaluate(server, web.sdkKey, "banner")).rejects.toThrow(/404/);
  await page.goto(`/dashboard/flags/banner?environment=${web.id}`);
  await expect(page.getByText("Not configured in web")).toBeVisible();
  await expect(page.getByText("The flag is not public")).toBeVisible();

  await page.goto("/dashboard/flags/banner/history");
  const group = page.locator(".timeline > li").first();
  await expect(group).toContainText("made banner not public");
  await expect(group).toContainText("removed banner from web, where it was on");
  await group.getByRole("link", { name: "Revert" }).click();
  await expect(page.getByText("The flag exists in public environments, whose")).toBeVisible();
});

test("an administrator changes the client rules after a warning", async ({ page, server, api }) => {
  const { web } = await fill(api);
  await signIn(page, server);
  await openEnvironment(page, "web");
  await expect(page.getByText(/^The keys, rules and rollouts of 1 public flag\./)).toBeVisible();
  expect(await configStatus(server.url, web.sdkKey)).toBe(200);
  const warning = page.getByText("Clients that evaluate locally stop getting changes.");
  await expect(warning).toBeHidden();
  await page.getByLabel("Answers").check();
  await expect(warning).toBeVisible();
  await page.getByRole("button", { name: "Change client rules" }).click();
  await expect(page.getByText(/^The keys of 1 public flag and their results/)).toBeVisible();
  await expect.poll(() => configStatus(server.url, web.sdkKey)).toBe(403);

  const exposure = page.getByText("Everyone will be able to read the rules and rollouts");
  await expect(exposure).toBeHidden();
  await page.getByLabel("Full").check();
  await expect(exposure).toBeVisible();
  await page.getByRole("button", { name: "Change client rules" }).click();
  await expect(page.getByText(/^The keys, rules and rollouts of 1 public flag\./)).toBeVisible();
  await expect.poll(() => configStatus(server.url, web.sdkKey)).toBe(200);

  await page.goto("/dashboard/audit");
  const entries = page.locator(".timeline").getByRole("listitem");
  await expect(entries.first()).toContainText("set the client rules of web to full");
  await expect(entries.nth(1)).toContainText("set the client rules of web to answers");
  await entries.first().getByRole("link", { name: "Revert" }).click();
  await expect(page.getByText("Clients that evaluate locally stop")).toBeVisible();
});

test("a concurrent change of an environment is not overwritten by client rules", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 409/);
  const { web } = await fill(api);
  await signIn(page, server);
  await openEnvironment(page, "web");
  await page.getByLabel("Answers").check();
  await api.renameEnvironment(web, "storefront");
  await page.getByRole("button", { name: "Change client rules" }).click();
  await expect(page.getByText("Somebody else changed this first")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("storefront");
  await expect(page.getByLabel("Answers")).toBeChecked();
  expect(await configStatus(server.url, web.sdkKey)).toBe(200);
});

test("a flag that exists in no environment says why", async ({ page, server, api }) => {
  await api.createPublicEnvironment("Web shop", "web");
  await api.createFlag("discount", "Discount");
  await signIn(page, server);
  await page.goto("/dashboard/flags/discount");
  await expect(page.getByText("Not configured anywhere")).toBeVisible();
  await expect(page.getByText("The flag is not public")).toBeVisible();
});

test.describe("with axe", { tag: "@scripts" }, () => {
  test.slow();

  test("pages of public environments are accessible", async ({
    page,
    server,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 409/);
    const { web } = await fill(api);
    await signIn(page, server);
    for (const address of ["flags", "environments", "flags/banner", "new-flag"]) {
      await page.goto(`/dashboard/${address}`);
      await test.step(address, () => expectAccessible(page));
    }
    await page.goto("/dashboard/environments/new");
    await page.getByLabel("Public").check();
    await expectAccessible(page);
    await page.goto(`/dashboard/environments/${web.id}`);
    await page.getByLabel("Answers").check();
    await expectAccessible(page);
    await page.goto("/dashboard/flags/banner?edit=details");
    await page.getByLabel("Public").uncheck();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText("Not saved.")).toBeVisible();
    await expectAccessible(page);
  });
});

test("a page of another origin needs no preflight request for its flags", {
  tag: "@scripts",
}, async ({ page, api, serve }) => {
  const { web, banner } = await fill(api);
  const shop = await serve(servePlain, web);
  await page.context().grantPermissions(["local-network-access"]);
  const network = await page.context().newCDPSession(page);
  const preflights: string[] = [];
  const statuses: number[] = [];
  network.on("Network.requestWillBeSent", ({ type, request }) => {
    if (type === "Preflight") {
      preflights.push(new URL(request.url).pathname);
    }
  });
  network.on("Network.responseReceivedExtraInfo", ({ statusCode }) => statuses.push(statusCode));
  await network.send("Network.enable");
  await page.goto(shop.url);
  const read = () =>
    page.evaluate(async () => {
      const { FeatureFlagsClient } = await import("/pennon/index.js" as string);
      const { default: settings } = await import("/settings.js" as string);
      const read: unknown[] = [];
      const ways = [{}, { mode: "remote" }, { bootstrapContext: { userId: "ada" } }];
      for (const options of ways) {
        const client = new FeatureFlagsClient({ ...settings, ...options });
        await client.initialize();
        read.push(client.isEnabled("banner"));
        await client.shutdown();
      }
      return read;
    });
  expect(await read()).toEqual([true, true, true]);
  // The browser asks again, and has the unchanged document in its cache.
  expect(await read()).toEqual([true, true, true]);
  expect(statuses).toContain(304);
  await api.switch(banner, web, false);
  expect(await read()).toEqual([false, false, false]);
  // The page's own client opens a stream, whose key is in a header.
  expect(preflights.filter((path) => !path.endsWith("/stream"))).toEqual([]);
});

for (const [name, options] of [
  ["in remote mode", { mode: "remote" }],
  ["with a context for its bootstrap", { bootstrapContext: { userId: "ada" } }],
] as const) {
  test(`${name}, a page has its first evaluations before the engine`, {
    tag: "@scripts",
  }, async ({ page, api, serve }) => {
    const { web, banner } = await fill(api);
    const shop = await serve(servePlain, web);
    await page.context().grantPermissions(["local-network-access"]);
    const release = await hold(page, "**/pennon/engine*");
    await page.goto(shop.url);
    const isOn = await page.evaluate(async (options) => {
      const { FeatureFlagsClient } = await import("/pennon/index.js" as string);
      const { default: settings } = await import("/settings.js" as string);
      const client = new FeatureFlagsClient({ ...settings, ...options });
      Object.assign(globalThis, { client });
      await client.initialize();
      return client.isEnabled("banner");
    }, options);
    expect(isOn).toBe(true);
    await api.switch(banner, web, false);
    release();
    const isStillOn = await page.evaluate(async () => {
      const { client } = globalThis as unknown as {
        client: { refresh(): Promise<void>; isEnabled(key: string): boolean };
      };
      // The first call may share the request that the client has sent beside that for the engine.
      await client.refresh();
      await client.refresh();
      return client.isEnabled("banner");
    });
    expect(isStillOn).toBe(false);
  });
}

test("the client takes the flags that a page has preloaded", { tag: "@scripts" }, async ({
  page,
  server,
  api,
  serve,
}) => {
  const { web } = await fill(api);
  const shop = await serve(servePlain, web);
  await page.context().grantPermissions(["local-network-access"]);
  await page.goto(shop.url);
  // The page's own client has its flags.
  await expect(page.getByText("Free delivery this week")).toBeVisible();
  const url = `${server.url}/sdk/v1/public/${web.sdkKey}/config`;
  const requests: string[] = [];
  page.on("request", (request) => {
    if (request.url().startsWith(url)) {
      requests.push(request.url());
    }
  });
  const isOn = await page.evaluate(async (href) => {
    const link = Object.assign(document.createElement("link"), {
      rel: "preload",
      as: "fetch",
      crossOrigin: "anonymous",
      href,
    });
    document.head.append(link);
    const { FeatureFlagsClient } = await import("/pennon/index.js" as string);
    const { default: settings } = await import("/settings.js" as string);
    const client = new FeatureFlagsClient(settings);
    await client.initialize();
    const isOn: boolean = client.isEnabled("banner");
    await client.shutdown();
    return isOn;
  }, url);
  expect(isOn).toBe(true);
  expect(requests).toEqual([url]);
});
