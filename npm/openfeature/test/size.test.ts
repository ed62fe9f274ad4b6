import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

/**
 * The maximum size that a provider may add to the client and OpenFeature. About 180 bytes of it are for starts from a
 * bootstrap, and for the order of changes of the context.
 */
const MOST_BYTES = 2_300;

describe("the entry for browsers", () => {
  it("adds at most 2,300 bytes to a page, compressed", async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `export { PennonWebProvider } from "@pennon/openfeature/web"`,
        resolveDir: import.meta.dirname,
      },
      external: ["@openfeature/*", "@pennon/core"],
      bundle: true,
      format: "esm",
      minify: true,
      write: false,
    });
    const bytes = gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).byteLength;
    console.log(`@pennon/openfeature/web adds ${bytes} bytes, compressed`);
    expect(bytes).toBeGreaterThan(500);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  });
});
