import type { Page } from "@playwright/test";
import { expectAccessible } from "../support/accessible.ts";
import type { Api } from "../support/api.ts";
import { expect, signIn, test } from "../support/test.ts";

// Axe itself is a script.
test.describe("pages are accessible", { tag: "@scripts" }, () => {
  test.slow();

  test("on the sign-in page, with and without an error", async ({ page, browserErrors }) => {
    browserErrors.ignore(/status of 401/);
    await page.goto("/dashboard/login");
    await expectAccessible(page);
    await page.getByLabel("E-mail").fill("nobody@example.com");
    await page.getByLabel("Password").fill("a guess");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByLabel("Password")).toHaveAttribute("aria-invalid", "true");
    await expectAccessible(page);
  });

  test("when everything is empty", async ({ page, server, browserErrors }) => {
    browserErrors.ignore(/status of 404/);
    await signIn(page, server);
    for (const address of ["flags", "environments", "nowhere"]) {
      await page.goto(`/dashboard/${address}`);
      await expectAccessible(page);
    }
  });

  test("on every linked page", async ({ page, server, api }) => {
    test.setTimeout(300_000);
    await fill(api);
    await signIn(page, server);
    for await (const address of everyPage(page)) {
      await test.step(address, () => expectAccessible(page));
    }
  });

  test("on a phone, without horizontal scrolling", async ({ page, server, api }) => {
    await fill(api);
    for (const name of ["development", "sandbox", "production"]) {
      await api.createEnvironment("Web shop", name);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await signIn(page, server);
    for await (const address of everyPage(page)) {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect.soft(width, address).toBe(390);
    }
  });

  test("with text at 200%, which nothing covers", async ({ page, server, api }) => {
    await fill(api);
    await page.setViewportSize({ width: 1280, height: 800 });
    await signIn(page, server);
    const enlarge = () =>
      page.evaluate(() => {
        document.documentElement.style.fontSize = "200%";
      });
    await page.goto("/dashboard/audit");
    await enlarge();
    const overlaps = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll(".sidebar-nav a, .jump, .audit-filters > *")];
      const places = boxes.map((box) => {
        const { left, top, height } = box.getBoundingClientRect();
        return { right: left + box.scrollWidth, left, top, bottom: top + height };
      });
      return places.filter((one, index) =>
        places.some(
          (next, position) =>
            index !== position &&
            one.left < next.right &&
            next.left < one.right &&
            one.top < next.bottom &&
            next.top < one.bottom,
        ),
      );
    });
    expect(overlaps).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);

    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto("/dashboard/flags");
    await enlarge();
    await expect(page.getByRole("button", { name: "Menu" })).toBeInViewport({ ratio: 1 });
  });

  test("on a phone, with the menu open", async ({ page, server, api }) => {
    await fill(api);
    await page.setViewportSize({ width: 390, height: 844 });
    await signIn(page, server);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Menu" }).click();
    await expectAccessible(page);
  });
});

test("the message about a change does not cover the focus", { tag: "@scripts" }, async ({
  page,
  server,
  api,
}) => {
  await api.createEnvironment("Web shop", "staging");
  for (let number = 1; number <= 12; number++) {
    await api.createFlag(`flag_${number}`, `Flag ${number}`);
  }
  await page.setViewportSize({ width: 720, height: 450 });
  await signIn(page, server);
  await page.getByRole("switch", { name: "Flag 12" }).click();
  // The message stays while it is under the pointer.
  await page.locator(".toast").hover();
  const covered: string[] = [];
  for (let switches = 1; switches < 12; ) {
    await page.keyboard.press("Tab");
    const focused = page.locator(":focus");
    switches += await focused.and(page.getByRole("switch")).count();
    const isCovered = await focused.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      const top = document.elementFromPoint(x + width / 2, y + height / 2);
      return top?.closest(".toast") != null;
    });
    if (isCovered) {
      covered.push(await focused.innerText());
    }
  }
  expect(covered).toEqual([]);
  await expect(page.locator(".toast")).toBeVisible();
});

/**
 * Creates one object of each kind: enough for each page to show something, and few enough to visit all pages quickly.
 */
async function fill(api: Api): Promise<void> {
  const ben = await api.createUser("ben@example.com", "editor");
  await api.createTokenAs(ben, "deploy");
  const staging = await api.createEnvironment("Web shop", "staging");
  const beta = await api.createEnvironment("Mobile app", "beta");
  await api.archive(await api.createFlag("old_banner", "Old banner"));
  const checkout = await api.createFlag("checkout_v2", "New checkout", "Checkout in one page.");
  for (const environment of [staging, beta]) {
    await api.switch(checkout, environment, true);
  }
  await api.setRollout(checkout, beta, 25);
  await api.addRule(checkout, staging, {
    priority: 1,
    logic: "or",
    value: true,
    conditions: [
      { attribute: "country", operator: "==", valueType: "string", valueString: "DE" },
      { attribute: "planLevel", operator: ">=", valueType: "number", valueInt: 3 },
    ],
  });
}

/** Opens each page that can be reached by links, one after another, and yields its address. */
async function* everyPage(page: Page): AsyncGenerator<string> {
  const seen = new Set<string>();
  const ahead = [new URL(page.url())];
  for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
    // Other values in a query show similar content, unless they open a form for editing.
    const names = [...next.searchParams.keys()].sort();
    const kind = `${next.pathname}?${names} ${next.searchParams.get("edit")}`;
    if (next.pathname.startsWith("/dashboard") && !seen.has(kind)) {
      seen.add(kind);
      await page.goto(next.href);
      yield next.pathname + next.search;
      const links = await page
        .locator("a[href]:not([download])")
        .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
      ahead.push(...links.map((link) => new URL(link)));
    }
  }
}
