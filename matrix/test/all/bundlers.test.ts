import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { afterAll, beforeAll, describe, it } from "vitest";
import { launch, outputOfPage, outputOfSite } from "../../support/browser.ts";
import { Child } from "../../support/child.ts";
import { FakeServer } from "../../support/fake-server.ts";
import { newApplication, output, tool } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";

const strict = "default-src 'self' data:; script-src 'self'";
const webpack = ["--mode", "production"];
const splitting = ["--bundle", "--format=esm", "--splitting", "--outdir=dist"];

let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser?.close());

describe("a page", () => {
  it.each([
    ["webpack", "main.js", webpack],
    ["esbuild", "index.js", ["src/index.js", ...splitting]],
    ["esbuild", "index.js", ["src/index.js", "--bundle", "--outdir=dist"]],
  ] as const)(
    "built with %s runs wasm, and else plain JavaScript",
    async (name, script, options) => {
      const application = await newApplication("page");
      await output(application, tool(name), ...options);
      const site = { folder: join(application, "dist"), script };
      expectVectors((await outputOfSite(browser, site)).results, "wasm");
      const refused = await outputOfSite(browser, { ...site, policy: strict });
      expectVectors(refused.results, "plain JavaScript");
    },
  );
});

describe("a page in development", () => {
  it("runs wasm in the development server of Vite", async () => {
    const cwd = await newApplication("page");
    await using server = await FakeServer.start();
    const listening = /127\.0\.0\.1:(\d+)/;
    await using vite = await Child.start(tool("vite"), ["--host", "127.0.0.1"], listening, { cwd });
    expectVectors(await outputOfPage(browser, `${vite.url}/?server=${server.url}`), "wasm");
  });
});

describe("a web worker", () => {
  it.each([
    ["webpack", "main.js", webpack],
    ["vite", undefined, ["build"]],
  ] as const)(
    "built with %s runs wasm, and else plain JavaScript",
    async (name, script, options) => {
      const application = await newApplication("worker");
      await output(application, tool(name), ...options);
      const site = { folder: join(application, "dist"), script };
      expectVectors((await outputOfSite(browser, site)).results, "wasm");
      const refused = await outputOfSite(browser, { ...site, policy: strict });
      expectVectors(refused.results, "plain JavaScript");
    },
  );
});

describe("a program for Node.js", () => {
  it.each([
    [
      "webpack",
      [
        ...webpack,
        "--target=node",
        "--entry=./main.js",
        "--output-filename=main.cjs",
        "--output-chunk-filename=[id].cjs",
      ],
    ],
    ["esbuild", ["main.js", "--bundle", "--platform=node", "--outfile=dist/main.cjs"]],
  ] as const)("built with %s runs wasm", async (name, options) => {
    const application = await newApplication("node");
    await output(application, tool(name), ...options);
    await using server = await FakeServer.start();
    const file = join("dist", "main.cjs");
    expectVectors(await output(application, process.execPath, file, server.url), "wasm");
  });
});
