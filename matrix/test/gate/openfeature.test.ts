import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { launch, outputOfSite } from "../../support/browser.ts";
import { FakeServer } from "../../support/fake-server.ts";
import { newApplication, output, tool } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";

describe("@pennon/openfeature", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await newApplication("openfeature");
  });

  it.each(["server.js", "server.cjs"])("runs %s in Node.js", async (file) => {
    await using server = await FakeServer.start();
    expectVectors(await output(folder, process.execPath, file, server.url), "wasm");
  });

  it("runs in a page built with Vite", async () => {
    await output(folder, tool("vite"), "build");
    const browser = await launch();
    try {
      const { results } = await outputOfSite(browser, { folder: join(folder, "dist") });
      expectVectors(results, "wasm");
    } finally {
      await browser.close();
    }
  });
});
