// Builds dist/ from src/ and from what `cargo xtask wasm` left in generated/.
//
// The client is one small file. The engine is another one, loaded by initialize(): glue and wasm in one, so that nothing has
// to be found at run time and no bundler needs to be told anything.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const generated = join(root, "generated");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const engine = await engineModule();
await Promise.all([bundle("esm", "js"), bundle("cjs", "cjs")]);
declarations();

/** The module that src/engine/wasm.d.ts declares. */
async function engineModule() {
  const glue = await build({
    stdin: {
      contents: `export { CommandKind, Engine, FailureKind, initSync, Machine } from './engine.js';`,
      resolveDir: generated,
    },
    bundle: true,
    format: "iife",
    globalName: "exported",
    target: "es2022",
    write: false,
  });
  const wasm = deflateRawSync(readFileSync(join(generated, "engine_bg.wasm")), { level: 9 });
  return `
    export function glue() { ${glue.outputFiles[0].text} return exported; }
    export const base64 = ${JSON.stringify(wasm.toString("base64"))};
  `;
}

async function bundle(format, extension) {
  await build({
    absWorkingDir: root,
    entryPoints: { index: "src/index.ts", engine: "src/engine/brain.ts" },
    outdir: dist,
    outExtension: { ".js": `.${extension}` },
    bundle: true,
    format,
    platform: "neutral",
    target: "es2022",
    minify: true,
    sourcemap: true,
    // In a CommonJS file Node finds the exported names only if there is no import() of an ES module to be kept.
    supported: { "dynamic-import": format === "esm" },
    plugins: [
      {
        name: "engine",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /\/wasm\.js$/ }, () => ({ path: "wasm", namespace: "engine" }));
          onLoad({ filter: /.*/, namespace: "engine" }, () => ({ contents: engine, loader: "js" }));
          onResolve({ filter: /\/engine\/brain\.js$/ }, () => ({
            path: `./engine.${extension}`,
            external: true,
          }));
        },
      },
    ],
  });
}

/** The types: once for import and once for require, and none of what is not API. */
function declarations() {
  const types = join(dist, "types");
  const tsc = createRequire(import.meta.url)
    .resolve("typescript/package.json")
    .replace("package.json", "bin/tsc");
  execFileSync(
    process.execPath,
    [tsc, "-p", join(root, "tsconfig.build.json"), "--outDir", types],
    {
      stdio: "inherit",
    },
  );
  for (const file of readdirSync(types).filter((name) => name.endsWith(".d.ts"))) {
    const text = readFileSync(join(types, file), "utf8");
    writeFileSync(join(dist, file), text);
    const forRequire = text.replaceAll(/(from "\.\/\w+)\.js"/g, '$1.cjs"');
    if (/\.js"/.test(forRequire)) {
      throw new Error(`${file} imports in a way that its twin for require() does not follow`);
    }
    writeFileSync(join(dist, file.replace(".d.ts", ".d.cts")), forRequire);
  }
  rmSync(types, { recursive: true });
}
