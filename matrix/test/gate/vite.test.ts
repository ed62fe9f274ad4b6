import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, outputOfSite } from "../../support/browser.ts";
import { newApplication, output, tool } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";

describe("a page built with Vite", () => {
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    const application = await newApplication("page");
    await output(application, tool("vite"), "build");
    folder = join(application, "dist");
    browser = await launch();
  });

  afterAll(() => browser?.close());

  it.each([
    ["no content security policy", undefined],
    ["one that allows wasm", "default-src 'self' data:; script-src 'self' 'wasm-unsafe-eval'"],
  ])("runs wasm under %s", async (_, policy) => {
    const { results, loaded } = await outputOfSite(browser, { folder, policy });
    expectVectors(results, "wasm");
    expect(loaded.filter((path) => path.includes("fallback"))).toEqual([]);
  });

  it("runs plain JavaScript under a content security policy that forbids wasm", async () => {
    const policy = "default-src 'self' data:; script-src 'self'";
    const { results, loaded } = await outputOfSite(browser, { folder, policy });
    expectVectors(results, "plain JavaScript");
    expect(loaded.filter((path) => path.includes("fallback"))).toHaveLength(1);
  });
});
