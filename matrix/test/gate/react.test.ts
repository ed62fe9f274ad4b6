import { join } from "node:path";
import { describe, it } from "vitest";
import { launch, outputOfSite } from "../../support/browser.ts";
import { newApplication, output, tool } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";

describe("@pennon/react", () => {
  it("renders the right evaluations in a page built with Vite", async () => {
    const folder = await newApplication("react");
    await output(folder, tool("vite"), "build");
    await using browser = await launch();
    const { results } = await outputOfSite(browser, { folder: join(folder, "dist") });
    expectVectors(results, "wasm");
  });
});
