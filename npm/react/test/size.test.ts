// @vitest-environment node
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Returns the size that this package adds to an application with React and the core, as a bundler builds it. */
async function gzipped(): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [`${root}/dist/index.js`],
    bundle: true,
    minify: true,
    packages: "external",
    format: "esm",
    target: "es2022",
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length;
}

describe("the size in a browser", () => {
  it("is at most 2.5 KiB more than the core, compressed", async () => {
    const bytes = await gzipped();
    console.log(`@pennon/react adds ${bytes} bytes, compressed`);
    expect(bytes).toBeLessThanOrEqual(2.5 * 1024);
  });

  it("begins with the directive that marks client code", () => {
    for (const file of ["index.js", "testing.js"]) {
      expect(readFileSync(`${root}/dist/${file}`, "utf8")).toMatch(/^"use client";/);
    }
  });
});
