import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { json } from "node:stream/consumers";
import { test } from "../support/nginx.ts";
import { expect, scriptsReady, signIn } from "../support/test.ts";

interface Package {
  readonly "dist-tags": { readonly latest: string };
  readonly versions: Readonly<Record<string, { readonly dist: { readonly tarball: string } }>>;
}

test.describe("behind nginx", { tag: "@scripts" }, () => {
  test("the dashboard follows changes by others", async ({
    page,
    context,
    browser,
    baseURL,
    server,
    api,
  }) => {
    await api.createEnvironment("Web shop", "staging");
    await api.createFlag("new_checkout", "New checkout");
    await signIn(page, server);
    const protocol = await page.evaluate(() => {
      const [navigation] = performance.getEntriesByType("navigation");
      return navigation instanceof PerformanceNavigationTiming ? navigation.nextHopProtocol : "";
    });
    expect(protocol).toBe("h2");
    const cookies = (await context.cookies()).filter(({ httpOnly }) => httpOnly);
    expect(cookies.map(({ name, secure }) => [name.slice(0, 7), secure])).toEqual([
      ["__Host-", true],
    ]);
    // Another browser, because tabs of the same browser notify each other.
    const other = await browser.newPage({ baseURL: baseURL ?? "", ignoreHTTPSErrors: true });
    await signIn(other, server);
    const name = "New checkout in staging";
    await scriptsReady(other);
    // The change must arrive without loading the page again.
    let loads = 0;
    other.on("framenavigated", () => loads++);
    await page.getByRole("switch", { name }).click();
    await expect(other.getByRole("switch", { name })).toBeChecked({ timeout: 3_000 });
    expect(loads).toBe(0);
    await other.close();
  });

  test("npm packages are served with the proxy's address", async ({ baseURL, nginx, api }) => {
    const token = await api.createToken("npm");
    const sent = request(new URL("/npm/@pennon%2fcore", baseURL), {
      ca: nginx.certificate,
      headers: { authorization: `Bearer ${token}` },
    }).end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    const { versions, "dist-tags": tags } = (await json(answer)) as Package;
    const tarball = versions[tags.latest]?.dist.tarball;
    expect(tarball).toBe(`${baseURL}/npm/@pennon/core/-/core-${tags.latest}.tgz`);
  });

  test("a stream delivers a change at once", async ({ baseURL, nginx, api }) => {
    const environment = await api.createEnvironment("Web shop", "staging");
    const flag = await api.createFlag("new_checkout", "New checkout");
    const sent = request(new URL("/sdk/v1/stream", baseURL), {
      ca: nginx.certificate,
      headers: { authorization: `Bearer ${environment.sdkKey}` },
    }).end();
    const [stream] = (await once(sent, "response")) as [IncomingMessage];
    expect(stream.statusCode).toBe(200);
    let received = "";
    stream.setEncoding("utf8").on("data", (text: string) => {
      received += text;
    });
    const events = () => received.split("event: config").length - 1;
    await expect.poll(events).toBe(1);
    await api.switch(flag, environment, true);
    await expect.poll(events, { timeout: 2_000, intervals: [50] }).toBe(2);
    stream.destroy();
  });

  test("Pennon's own errors report requests that are too large", async ({ baseURL, page, api }) => {
    const { sdkKey } = await api.createEnvironment("Web shop", "staging");
    const answer = await page.request.post(`${baseURL}/sdk/v1/evaluate/batch`, {
      headers: { authorization: `Bearer ${sdkKey}` },
      data: { evaluations: "x".repeat(1_500_000) },
    });
    expect(answer.status()).toBe(413);
    expect(answer.headers()["content-type"]).toBe("application/problem+json");
  });

  test("plain HTTP redirects to HTTPS", async ({ ports, page }) => {
    const address = `http://127.0.0.1:${ports.http}/dashboard/flags?status=on`;
    const answer = await page.request.get(address, { maxRedirects: 0 });
    expect(answer.status()).toBe(301);
    expect(answer.headers().location).toBe("https://127.0.0.1/dashboard/flags?status=on");
  });
});
