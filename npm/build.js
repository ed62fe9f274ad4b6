// Builds dist/ of the package in the current folder: one file for each entry in the manifest's `exports`, as ESM and as
// CommonJS, and the type declarations of both. Dependencies are not bundled and nothing is minified: that is the job of
// the application's bundler.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { writeDeclarations } from "./declarations.js";

const root = process.cwd();
const dist = join(root, "dist");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const files = Object.values(manifest.exports)
  .filter((target) => typeof target === "object")
  .flatMap(({ import: { types: _, ...files } }) => Object.values(files));
const entries = [...new Set(files)].map((file) => basename(file, ".js"));

rmSync(dist, { recursive: true, force: true });
await Promise.all(["js", "cjs"].map(bundle));
writeDeclarations(root);

async function bundle(extension) {
  await build({
    absWorkingDir: root,
    entryPoints: entries.map((entry) => {
      const source = readdirSync(join(root, "src")).find((file) => file.startsWith(`${entry}.ts`));
      return join("src", source);
    }),
    outdir: dist,
    outExtension: { ".js": `.${extension}` },
    bundle: true,
    packages: "external",
    format: extension === "js" ? "esm" : "cjs",
    platform: "neutral",
    target: "es2022",
    jsx: "automatic",
    define: {
      PACKAGE_NAME: JSON.stringify(manifest.name),
      PACKAGE_VERSION: JSON.stringify(manifest.version),
    },
    plugins: [
      {
        name: "entries",
        // An entry that uses another one must share its instance: React contexts are compared by identity.
        setup({ onResolve }) {
          onResolve({ filter: /^\.\.?\// }, ({ path }) => {
            const entry = basename(path, ".js");
            return entries.includes(entry)
              ? { path: `./${entry}.${extension}`, external: true }
              : undefined;
          });
        },
      },
    ],
  });
}
