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
