import type { Page } from "@playwright/test";
import { expect, signIn, test } from "../support/test.ts";

test.describe("the stream of events", { tag: "@scripts" }, () => {
  /** Makes the page listen to the stream, and returns a function that reads the events received so far. */
  async function listen(page: Page): Promise<() => Promise<string>> {
    await page.evaluate(async () => {
      const answer = await fetch("/dashboard/events");
      const { dataset } = document.documentElement;
      dataset.received = `${answer.status} `;
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      void (async () => {
        for (let part = await reader?.read(); part !== undefined; part = await reader?.read()) {
          dataset.received += part.done ? "ended" : part.value;
          if (part.done) {
            return;
          }
        }
      })();
    });
    return async () => (await page.locator("html").getAttribute("data-received")) ?? "";
  }

  test("contains changes by others, and changes of accounts only for admins", async ({
    page,
    server,
    api,
  }) => {
    await signIn(page, await api.createUser("ben@example.com", "viewer"));
    const received = await listen(page);
    await expect.poll(received).toContain("event: position");
    await api.createUser("cleo@example.com", "viewer");
    await api.createFlag("new_checkout", "New checkout");
    await expect.poll(received).toContain('"flag":"new_checkout"');
    expect(await received()).toContain(`"by":"${server.email}"`);
    expect(await received()).not.toContain("USER_");
  });

  test("ends when the user's role changes, and requires a session", async ({
    page,
    context,
    api,
    browserErrors,
  }) => {
    browserErrors.ignore(/status of 401/);
    const ben = await api.createUser("ben@example.com", "admin");
    await signIn(page, ben);
    const received = await listen(page);
    await expect.poll(received).toContain("event: position");
    expect(await received()).not.toContain("ended");
    await api.setRole(ben, "viewer");
    await expect.poll(received).toContain("ended");
    await context.clearCookies();
    await expect.poll(await listen(page)).toContain("401");
  });
});
