import { beforeAll, describe, expect, it } from "vitest";
import { launch, outputOfPage } from "../../support/browser.ts";
import { FakeServer } from "../../support/fake-server.ts";
import {
  buildNext,
  expectFlagsSdk,
  expectNoFlicker,
  expectNoSecret,
  expectRightPage,
  startNext,
  users,
} from "../../support/next.ts";
import { newApplication } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";

describe("an application built with Next.js and Turbopack", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await newApplication("next", "next-flags");
    await buildNext(folder);
  });

  it("runs wasm in a server component", async () => {
    await using server = await FakeServer.start();
    await using next = await startNext(folder, server.url);
    await expectRightPage(next.url);
  });

  it("runs wasm in a client component", async () => {
    await using server = await FakeServer.start();
    await using next = await startNext(folder, server.url);
    await using browser = await launch();
    expectVectors(await outputOfPage(browser, next.url), "wasm");
  });
  it("has the same flags before and after hydration, for each user", async () => {
    await using server = await FakeServer.start();
    await using next = await startNext(folder, server.url);
    await using browser = await launch();
    for (const [user, isOn] of Object.entries(users)) {
      await expectNoFlicker(browser, `${next.url}/flags?user=${user}`, isOn);
      await expectNoFlicker(browser, `${next.url}/live?user=${user}`, isOn);
    }
  });

  it("has flags in a route handler and in the proxy", async () => {
    await using server = await FakeServer.start();
    await using next = await startNext(folder, server.url);
    for (const [user, enabled] of Object.entries(users)) {
      const answer = await fetch(`${next.url}/answer?user=${user}`);
      expect(await answer.json()).toEqual({ enabled, reason: "rollout" });
      expect(answer.headers.get("X-Flag")).toBe(String(enabled));
    }
  });

  it("has flags that are declared by Vercel's Flags SDK", async () => {
    await using server = await FakeServer.start();
    await using next = await startNext(folder, server.url);
    await expectFlagsSdk(next.url, server.url);
  });

  it("fetches the flags once for all pages, routes and users", async () => {
    await using server = await FakeServer.start();
    await using next = await startNext(folder, server.url);
    for (const path of ["flags?user=a", "live?user=b", "answer?user=c", "declared"]) {
      expect((await fetch(`${next.url}/${path}`)).status).toBe(200);
    }
    // The client polls for the first time at a random moment, so it may have polled already.
    expect(server.firstFetches).toBe(1);
  });

  it("serves pages while Pennon is down", async () => {
    await using next = await startNext(folder, "http://127.0.0.1:9");
    const page = await (await fetch(`${next.url}/flags?user=user-63`)).text();
    expect(page).toContain("<pre>false</pre><output>false</output>");
    expect(await (await fetch(`${next.url}/declared`)).text()).toContain("<pre>false</pre>");
  });

  it("keeps the server's key out of the files that browsers load", () => {
    expectNoSecret(folder);
  });
});
