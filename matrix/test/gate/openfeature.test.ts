import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { launch, outputOfSite } from "../../support/browser.ts";
import { FakeServer } from "../../support/fake-server.ts";
import { newApplication, output, tool } from "../../support/tool.ts";
import { expectRightAnswers } from "../../support/vectors.ts";

describe("@pennon/openfeature", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await newApplication("openfeature");
  });

  it.each(["server.js", "server.cjs"])("runs %s in Node.js", async (file) => {
    await using server = await FakeServer.start();
    expectRightAnswers(await output(folder, process.execPath, file, server.url), "wasm");
  });

  it("runs in a page built with Vite", async () => {
    await output(folder, tool("vite"), "build");
    const browser = await launch();
    try {
      const { said } = await outputOfSite(browser, { folder: join(folder, "dist") });
      expectRightAnswers(said, "wasm");
    } finally {
      await browser.close();
    }
  });
});
