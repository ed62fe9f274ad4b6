// @vitest-environment node
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { gzippedSize } from "../../test-kit/gzipped-size.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the size in a browser", () => {
  it("is at most 2.5 KiB more than the core, compressed", async () => {
    const bytes = await gzippedSize({
      entryPoints: [`${root}/dist/index.js`],
      packages: "external",
    });
    console.log(`@pennon/react adds ${bytes} bytes, compressed`);
    expect(bytes).toBeLessThanOrEqual(2.5 * 1024);
  });

  it("begins with the directive that marks client code", () => {
    for (const file of ["index.js", "testing.js"]) {
      expect(readFileSync(`${root}/dist/${file}`, "utf8")).toMatch(/^"use client";/);
    }
  });
});
