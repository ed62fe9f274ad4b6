import type { Page } from "@playwright/test";
import { expect, signIn, test } from "../support/test.ts";

const entries = (page: Page) => page.locator(".timeline > li");

// Zones so far east and west of UTC that one of them always has a different date.
for (const zone of ["Pacific/Kiritimati", "Etc/GMT+12"]) {
  test.describe(`in ${zone}`, { tag: "@scripts" }, () => {
    test.use({ timezoneId: zone });

    test("days and times are local", async ({ page, server, api }) => {
      await api.createFlag("checkout_v2", "New checkout");
      const local = (options: Intl.DateTimeFormatOptions) =>
        new Intl.DateTimeFormat("en-CA", { timeZone: zone, hourCycle: "h23", ...options });
      const today = local({ dateStyle: "short" });
      await signIn(page, server);
      await page.goto("/dashboard/audit");
      const time = entries(page).first().locator("time");
      const at = new Date((await time.getAttribute("datetime")) ?? "");
      await expect(time).toHaveText(local({ timeStyle: "short" }).format(at));
      const [date, clock] = at.toISOString().split(/[T.]/);
      await expect(time).toHaveAttribute("title", `${date} ${clock} UTC`);
      await expect(page.getByRole("heading", { level: 2 })).toHaveText(
        `Today · ${today.format(at)}`,
      );
      await expect(page.getByText(`Times are in ${zone}.`)).toHaveCount(1);

      const minute = `${today.format(at)}T${local({ timeStyle: "short" }).format(at)}`;
      await page.getByLabel("From").fill(minute);
      await page.getByLabel("To", { exact: true }).fill(minute);
      await page.getByRole("button", { name: "Filter" }).click();
      await expect(entries(page)).toHaveCount(1);
      await expect(page.getByLabel("From")).toHaveValue(minute);
      const day = 24 * 60 * 60 * 1000;
      const yesterday = today.format(at.getTime() - day);
      await page.goto(`/dashboard/audit?to=${yesterday}`);
      await expect(page.getByText("No changes match these filters")).toBeVisible();
    });

    test("a page is rendered again once the time zone is known", async ({ page, server, api }) => {
      await api.createFlag("checkout_v2", "New checkout");
      await signIn(page, server);
      await page.context().clearCookies({ name: "pennon_zone" });
      const other = await page.context().newPage();
      // Without a stream, nothing else asks for the page again.
      await other.addInitScript("delete window.SharedWorker");
      await other.route("**/dashboard/events", (route) => route.abort());
      await other.goto("/dashboard/audit");
      await expect(other.getByText(`Times are in ${zone}.`)).toBeVisible();
    });
  });
}

test.describe("without a time zone from the browser", () => {
  test.use({ javaScriptEnabled: false });

  test("times are in UTC and say so", async ({ page, server, api }) => {
    await api.createFlag("checkout_v2", "New checkout");
    await signIn(page, server);
    await page.goto("/dashboard/audit");
    await expect(page.getByText("Times are in UTC.")).toBeVisible();
    const time = entries(page).first().locator("time");
    const at = (await time.getAttribute("datetime")) ?? "";
    await expect(time).toHaveText(at.slice(11, 16));
    // This page shows no times.
    await page.goto("/dashboard/new-flag");
    await expect(page.getByText("Times are in UTC.")).toBeHidden();
  });
});
