// Builds dist/ of the package in whose folder it is run: one file for each entry that its manifest exports, as ESM and as
// CommonJS, and the types of both. For packages that are thin: nothing is bundled but what is theirs, and nothing is
// minified, because that is for the application's bundler to do.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { build } from "esbuild";

const root = process.cwd();
const dist = join(root, "dist");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const files = Object.values(manifest.exports)
  .filter((target) => typeof target === "object")
  .flatMap(({ import: { types: _, ...files } }) => Object.values(files));
const entries = [...new Set(files)].map((file) => basename(file, ".js"));

rmSync(dist, { recursive: true, force: true });
await Promise.all(["js", "cjs"].map(bundle));
declarations();

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
        // One entry may use another, and both must then have the same: React's contexts are told apart by identity.
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

/** The types: once for import and once for require. */
function declarations() {
  const tsc = createRequire(import.meta.url)
    .resolve("typescript/package.json")
    .replace("package.json", "bin/tsc");
  const project = join(root, "tsconfig.build.json");
  execFileSync(process.execPath, [tsc, "-p", project, "--outDir", dist], { stdio: "inherit" });
  for (const file of readdirSync(dist, { recursive: true })) {
    if (file.endsWith(".d.ts")) {
      const text = readFileSync(join(dist, file), "utf8");
      const forRequire = text.replaceAll(/((?:from|import\() ?"\.[\w./-]+)\.js"/g, '$1.cjs"');
      if (/"\.[^"]*\.js"/.test(forRequire)) {
        throw new Error(`${file} imports in a way that its copy for require() does not follow`);
      }
      writeFileSync(join(dist, file.replace(/\.d\.ts$/, ".d.cts")), forRequire);
    }
  }
}
