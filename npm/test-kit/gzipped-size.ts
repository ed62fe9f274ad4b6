import { gzipSync } from "node:zlib";
import { type BuildOptions, build } from "esbuild";

/** Returns the compressed size of an entry as an application's bundler builds it, without the external packages. */
export async function gzippedSize(entry: BuildOptions): Promise<number> {
  const { outputFiles } = await build({
    ...entry,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length;
}
