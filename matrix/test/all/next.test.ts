import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
import { newApplication, newApplicationOfNext15, output, tool } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";

describe("an application built with Next.js", () => {
  it("runs wasm in middleware and in a route on the edge, by Turbopack", async () => {
    const folder = await newApplication("next", "next-edge");
    await output(folder, tool("next"), "build");
    await using server = await FakeServer.start();
    await using next = await startNext(folder, server.url);
    for (const path of ["middleware", "edge"]) {
      expectVectors(await (await fetch(`${next.url}/${path}`)).text(), "wasm");
    }
  });

  it("runs wasm in components and in middleware, by webpack", async () => {
    const folder = await newApplication("next", "next-edge");
    // With webpack, Next.js does not build edge routes, not even an empty one.
    await rm(join(folder, "app/edge"), { recursive: true });
    await output(folder, tool("next"), "build", "--webpack");
    await using server = await FakeServer.start();
    await using next = await startNext(folder, server.url);
    await expectRightPage(next.url);
    await using browser = await launch();
    expectVectors(await outputOfPage(browser, next.url), "wasm");
    expectVectors(await (await fetch(`${next.url}/middleware`)).text(), "wasm");
  });

  it.each([
    ["Next.js 16", newApplication, ["next", "next-flags"], ["--webpack"]],
    ["Next.js 15", newApplicationOfNext15, ["next", "next-flags", "next-15"], []],
  ] as const)(
    "has the same flags before and after a page has come to life, by webpack of %s",
    async (_, make, names, options) => {
      const folder = await make(...names);
      await buildNext(folder, ...options);
      expectNoSecret(folder);
      await using server = await FakeServer.start();
      await using next = await startNext(folder, server.url);
      await using browser = await launch();
      for (const [user, isOn] of Object.entries(users)) {
        await expectNoFlicker(browser, `${next.url}/flags?user=${user}`, isOn);
        await expectNoFlicker(browser, `${next.url}/live?user=${user}`, isOn);
        const answer = await fetch(`${next.url}/answer?user=${user}`);
        expect(answer.headers.get("X-Flag")).toBe(String(isOn));
      }
      await expectFlagsSdk(next.url, server.url);
    },
  );

  it.each([
    ["server", "getFeatureFlags"],
    ["flags", "pennonAdapter"],
  ])("is not built if a page imports @pennon/next/%s", async (entry, name) => {
    const folder = await newApplication("next", "next-flags");
    const page = `"use client";
import { ${name} } from "@pennon/next/${entry}";
export const Shown = () => <p>{String(${name})}</p>;
`;
    await writeFile(join(folder, "app/shown.jsx"), page);
    await expect(buildNext(folder)).rejects.toThrow(`Export ${name} doesn't exist`);
  });
});
