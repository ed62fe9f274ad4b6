import { expectAccessible } from "../support/accessible.ts";
import { evaluate } from "../support/api.ts";
import { expect, signIn, test } from "../support/test.ts";

test("without scripts, the page says that it needs them", async ({
  page,
  server,
  api,
  javaScriptEnabled,
}) => {
  const { id } = await api.createEnvironment("Web shop", "production");
  await signIn(page, server);
  await page.goto(`/dashboard/environments/${id}`);
  await page.getByRole("link", { name: "Live evaluations" }).click();
  await expect(page.getByRole("heading", { name: "Live evaluations" })).toBeVisible();
  const needsScripts = page.getByText("This page needs scripts.");
  const start = page.getByRole("button", { name: "Start" });
  await expect(needsScripts).toBeVisible({ visible: !javaScriptEnabled });
  await expect(start).toBeVisible({ visible: javaScriptEnabled });
});

test("a viewer has no link to the page, and is refused", async ({
  page,
  server,
  api,
  browserErrors,
}) => {
  browserErrors.ignore(/status of 403/);
  const { id } = await api.createEnvironment("Web shop", "production");
  await api.createFlag("checkout", "Checkout");
  const viewer = await api.createUser("vic@example.com", "viewer");
  await signIn(page, { ...server, ...viewer });
  for (const address of ["flags/checkout", `environments/${id}`]) {
    await page.goto(`/dashboard/${address}`);
    await expect(page.getByRole("link", { name: /^Live/ })).toHaveCount(0);
  }
  await page.goto(`/dashboard/environments/${id}/live`);
  await expect(page.getByRole("heading", { name: "Not allowed" })).toBeVisible();
});

test.describe("live evaluations", { tag: "@scripts" }, () => {
  test("appear while the page watches", async ({ page, server, api }) => {
    const production = await api.createEnvironment("Web shop", "production");
    const flag = await api.createFlag("checkout", "Checkout");
    await api.createFlag("banner", "Banner");
    await api.switch(flag, production, true);
    await signIn(page, server);
    await page.goto(`/dashboard/environments/${production.id}/live`);
    const section = page.getByRole("region", { name: "Evaluations" });
    const lines = section.getByRole("row");
    await evaluate(server, production.sdkKey, "checkout", { userId: "before" });
    await section.getByRole("button", { name: "Start" }).click();
    await expect(section.getByText("Live.")).toBeVisible();
    await expect(section.getByText("No evaluations yet")).toBeVisible();

    const customAttributes = { plan: "secret", level: 4 };
    const context = { userId: "ada", country: "DE", customAttributes };
    await evaluate(server, production.sdkKey, "checkout", context);
    await expect(section.getByText("Live. 1 evaluation.")).toBeVisible();
    await expect(lines).toHaveCount(2);
    await expect(lines.nth(1)).toContainText(/\d\d:\d\d:\d\d/);
    for (const text of ["checkout", "ON", "Switched on", "userId country + 2 custom"]) {
      await expect(lines.nth(1)).toContainText(text);
    }
    await expect(section.getByText(/ada|secret|plan/)).toHaveCount(0);
    await evaluate(server, production.sdkKey, "banner");
    await expect(lines.nth(1)).toContainText("banner");
    await expect(lines.nth(1)).toContainText("OFF");
    await expect(lines.nth(1)).toContainText("Empty");
    await expectAccessible(page);

    // A change by somebody else updates the page, but not the list.
    await api.renameEnvironment(production, "live shop");
    await expect(page.getByRole("navigation", { name: "Breadcrumbs" })).toContainText("live shop");
    await expect(lines).toHaveCount(3);
    await section.getByRole("button", { name: "Stop" }).click();
    await expect(section.getByText("Stopped. 2 evaluations.")).toBeVisible();
    await evaluate(server, production.sdkKey, "banner");
    await section.getByRole("button", { name: "Start" }).click();
    await expect(section.getByText("Live.")).toBeVisible();
    await expect(lines).toHaveCount(0);
    await evaluate(server, production.sdkKey, "checkout");
    await expect(lines).toHaveCount(2);
    await lines.nth(1).getByRole("link", { name: "checkout" }).click();
    await expect(page).toHaveURL(`/dashboard/flags/checkout?environment=${production.id}`);
  });

  test("are limited to a flag when opened from its page", async ({ page, server, api }) => {
    const production = await api.createEnvironment("Web shop", "production");
    await api.createFlag("checkout", "Checkout");
    await api.createFlag("banner", "Banner");
    await signIn(page, server);
    await page.goto("/dashboard/flags/checkout");
    await page.getByRole("link", { name: "Live" }).click();
    await expect(page).toHaveTitle(/^Live evaluations of checkout in production/);
    const section = page.getByRole("region", { name: "Evaluations" });
    await section.getByRole("button", { name: "Start" }).click();
    await expect(section.getByText("Live.")).toBeVisible();
    await evaluate(server, production.sdkKey, "banner");
    await evaluate(server, production.sdkKey, "checkout");
    await expect(section.getByRole("row")).toHaveCount(2);
    await expect(section.getByRole("row").nth(1)).toContainText("checkout");
    await page.getByRole("link", { name: "Show all flags" }).click();
    await expect(page).toHaveURL(`/dashboard/environments/${production.id}/live`);
  });

  test("report the refusal of a stream", async ({ page, server, api, browserErrors }) => {
    browserErrors.ignore(/status of 429/);
    const production = await api.createEnvironment("Web shop", "production");
    await signIn(page, server);
    await page.goto(`/dashboard/environments/${production.id}/live`);
    await page.route("**/dashboard/events/evaluations*", (route) =>
      route.fulfill({
        status: 429,
        contentType: "text/plain; charset=utf-8",
        body: "Eight pages show live evaluations.",
      }),
    );
    await page.getByRole("button", { name: "Start" }).click();
    await expect(page.getByText("Eight pages show live evaluations.").first()).toBeVisible();
    await expect(page.getByRole("button", { name: "Start" })).toBeVisible();
  });

  test("do not show the page of a proxy in place of a refusal", async ({
    page,
    server,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 502/);
    const production = await api.createEnvironment("Web shop", "production");
    await signIn(page, server);
    await page.goto(`/dashboard/environments/${production.id}/live`);
    await page.route("**/dashboard/events/evaluations*", (route) =>
      route.fulfill({ status: 502, contentType: "text/html", body: "<h1>502 Bad Gateway</h1>" }),
    );
    const section = page.getByRole("region", { name: "Evaluations" });
    await section.getByRole("button", { name: "Start" }).click();
    await expect(section.getByText("Pennon cannot be reached. Try again.")).toBeVisible();
    await expect(page.getByText("Bad Gateway")).toHaveCount(0);
  });

  test("are limited to the newest 200, and say how many were skipped", async ({
    page,
    server,
    api,
  }) => {
    const production = await api.createEnvironment("Web shop", "production");
    await signIn(page, server);
    await page.goto(`/dashboard/environments/${production.id}/live`);
    const evaluations = Array.from({ length: 1_003 }, (_, index) => ({
      at: "2026-01-02T03:04:05Z",
      flag: `flag_${index}`,
      enabled: true,
      reason: "flag_enabled",
      attributes: [],
      customAttributes: 0,
    }));
    const body = `event: evaluations\ndata: ${JSON.stringify({ evaluations, skipped: 7 })}\n\n`;
    const section = page.getByRole("region", { name: "Evaluations" });
    const summary =
      "Showing 1,003 of 1,010 evaluations, at most 20 per second. The list has the newest 200.";
    for (const [rest, outcome] of [
      ["event: ended\ndata:\n\n", "Stopped after 10 minutes."],
      ["", "Stopped: the connection was lost, or your session or your role has changed."],
    ] as const) {
      await page.route("**/dashboard/events/evaluations*", (route) =>
        route.fulfill({ contentType: "text/event-stream", body: body + rest }),
      );
      await section.getByRole("button", { name: "Start" }).click();
      await expect(section.getByText(`${outcome} ${summary}`)).toBeVisible();
      await expect(page.getByRole("status").getByText(outcome, { exact: true })).toBeAttached();
      await expect(section.getByRole("row")).toHaveCount(201);
      await expect(section.getByRole("row").nth(1)).toContainText("flag_1002");
    }
  });

  test("close their stream if it cannot be read", async ({ page, server, api }) => {
    const production = await api.createEnvironment("Web shop", "production");
    await signIn(page, server);
    await page.goto(`/dashboard/environments/${production.id}/live`);
    await page.evaluate(() => {
      const { fetch } = window;
      const event = new TextEncoder().encode("event: evaluations\ndata: {\n\n");
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(event),
        cancel: () => document.documentElement.setAttribute("data-canceled", ""),
      });
      window.fetch = (url, init) =>
        `${url}`.includes("/events/evaluations")
          ? Promise.resolve(new Response(body))
          : fetch(url, init);
    });
    await page.getByRole("button", { name: "Start" }).click();
    await expect(page.getByText("Stopped: the connection was lost").first()).toBeVisible();
    await expect(page.locator(":root[data-canceled]")).toBeAttached();
  });

  test("stop when the environment is revoked", async ({ page, server, api, browserErrors }) => {
    browserErrors.ignore(/status of 404/);
    const production = await api.createEnvironment("Web shop", "production");
    await signIn(page, server);
    await page.goto(`/dashboard/environments/${production.id}/live`);
    const section = page.getByRole("region", { name: "Evaluations" });
    await section.getByRole("button", { name: "Start" }).click();
    await expect(section.getByText("Live.")).toBeVisible();
    await page.getByRole("heading", { level: 1 }).hover();
    await api.revoke(production);
    await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
  });
});
