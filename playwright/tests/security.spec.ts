import { expect, signIn, test } from "../support/test.ts";

test("no response of the dashboard can be framed or sniffed", async ({ page, server }) => {
  await signIn(page, server);
  const assets = await page
    .locator("link[rel=stylesheet], script[src]")
    .evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? one.getAttribute("src")));
  const script = page.locator("script[data-islands]");
  assets.push(await script.getAttribute("data-islands"), await script.getAttribute("data-wasm"));
  expect(assets.length).toBeGreaterThan(2);
  for (const address of [
    ...assets.filter((address) => address !== null),
    "/dashboard/flags",
    "/dashboard/account",
    "/dashboard/nowhere",
    "/dashboard/assets/nothing.js",
    "/dashboard/api/nothing",
    "/dashboard/login",
  ]) {
    const answer = await page.request.get(address);
    const headers = answer.headers();
    expect(headers["content-security-policy"], address).toContain("frame-ancestors 'none'");
    expect(headers["x-content-type-options"], address).toBe("nosniff");
    expect(headers["referrer-policy"], address).toBe("same-origin");
  }
});

test("each page allows its own scripts with a new nonce", async ({ page, server }) => {
  await signIn(page, server);
  const nonces = new Set<string>();
  for (let time = 0; time < 2; time++) {
    const answer = await page.request.get("/dashboard/flags");
    const policy = answer.headers()["content-security-policy"] ?? "";
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? "";
    expect(scripts).not.toContain("unsafe-inline");
    expect(scripts).not.toContain("'unsafe-eval'");
    nonces.add(/'nonce-([^']+)'/.exec(scripts)?.[1] ?? "");
  }
  expect(nonces.size).toBe(2);
  expect(nonces).not.toContain("");
});

test("responses without a session cannot be framed either", async ({ page, server }) => {
  for (const [address, status] of [
    ["/dashboard/flags", 303],
    ["/dashboard/events", 401],
  ] as const) {
    const answer = await page.request.get(server.url + address, { maxRedirects: 0 });
    expect(answer.status()).toBe(status);
    expect(answer.headers()["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(answer.headers()["referrer-policy"]).toBe("same-origin");
  }
});
