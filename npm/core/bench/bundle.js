// The size of the files that a browser loads.

import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** The chunks that only optional features load. */
const OPTIONAL = /\b(lazy|fallback)\b/;

/** Returns the compressed size in KiB of an application that only imports the client. */
export async function bundledKib() {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { FeatureFlagsClient } from "@pennon/core"; globalThis.client = FeatureFlagsClient;`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    outdir: "out",
    write: false,
  });
  const loaded = outputFiles.filter(({ path }) => !OPTIONAL.test(basename(path)));
  const sizes = loaded.map(({ contents }) => gzipSync(contents, { level: 9 }).length);
  return sizes.reduce((sum, size) => sum + size, 0) / 1_024;
}
