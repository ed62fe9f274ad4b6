import { hold } from "../support/hold.ts";
import { serveReact, shopFlags, switchBanner, test } from "../support/shop.ts";
import { expect, signIn } from "../support/test.ts";

test("a React page follows the dashboard without a reload", { tag: "@scripts" }, async ({
  page,
  context,
  server,
  api,
  serve,
}) => {
  const { environment } = await shopFlags(api);
  const shop = await serve(serveReact, environment);
  await page.goto(shop.url);
  await expect(page.getByRole("status")).toHaveText("The flags are up to date.");
  await expect(page.getByText("Free delivery")).toBeVisible();
  await expect(page.getByRole("button", { name: "Buy now" })).toBeVisible();
  await page.getByLabel("Signed in as").selectOption("linus");
  await expect(page.getByRole("button", { name: "Check out" })).toBeVisible();
  await expect(page.getByText("rollout")).toBeVisible();

  const dashboard = await context.newPage();
  await signIn(dashboard, server);
  await dashboard.goto("/dashboard/flags");
  await switchBanner(dashboard);
  await expect(page.getByText("Free delivery")).toBeHidden();
  await expect(page.getByRole("row", { name: "banner off" })).toBeVisible();
  // A reload would have reset the signed-in user.
  await expect(page.getByLabel("Signed in as")).toHaveValue("linus");
});

test("a React page loads the engine and the flags together with its script", {
  tag: "@scripts",
}, async ({ page, server, api, serve }) => {
  const web = await api.createPublicEnvironment("Web shop", "web");
  await api.switch(await api.createPublicFlag("banner", "Banner"), web, true);
  const shop = await serve(serveReact, web);
  const release = await hold(page, "**/assets/index-*.js");
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(shop.url, { waitUntil: "commit" });
  const flags = `${server.url}/sdk/v1/public/${web.sdkKey}/config`;
  const early = [expect.stringMatching(/\/assets\/engine-[^/]+\.js$/), flags];
  await expect.poll(() => requests).toEqual(expect.arrayContaining(early));
  release();
  await expect(page.getByText("Free delivery")).toBeVisible();
  // The client used both, so neither was requested again.
  const isEarly = (url: string) => url.includes("/engine-") || url.startsWith(flags);
  expect(requests.filter(isEarly)).toHaveLength(2);
});
