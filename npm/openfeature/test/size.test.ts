import { describe, expect, it } from "vitest";
import { gzippedSize } from "../../test-kit/gzipped-size.ts";

/**
 * The maximum size that a provider may add to the client and OpenFeature. About 180 bytes of it are for starts from a
 * bootstrap, and for the order of changes of the context.
 */
const MOST_BYTES = 2_300;

describe("the entry for browsers", () => {
  it("adds at most 2,300 bytes to a page, compressed", async () => {
    const bytes = await gzippedSize({
      stdin: {
        contents: `export { PennonWebProvider } from "@pennon/openfeature/web"`,
        resolveDir: import.meta.dirname,
      },
      external: ["@openfeature/*", "@pennon/core"],
    });
    console.log(`@pennon/openfeature/web adds ${bytes} bytes, compressed`);
    expect(bytes).toBeGreaterThan(500);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  });
});
