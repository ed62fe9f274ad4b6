// Builds dist/ from src/ and from what `cargo xtask wasm` left in generated/.
//
// The client is one small file. The engine is another one, loaded by initialize(), with the wasm inside, so that nothing has
// to be found at run time and no bundler needs to be told anything. The fallback, of plain JavaScript, is loaded where wasm is
// refused.
//
// Browsers and edge runtimes get minified files. Node.js prints the source line of an error that nobody catches, so every
// file for it keeps its lines and names: all CommonJS, and ES modules of their own under the condition `node`.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const generated = join(root, "generated");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// One for each condition of package.json's `exports`: its client, its engine, and how that gets an instance. `lazy` is
// the file with what is loaded on demand; several builds share one, and the build with `ownsLazy` writes it.
const builds = [
  {
    client: "index",
    engine: "engine",
    instance: "instance",
    lazy: "lazy",
    ownsLazy: true,
    formats: ["js", "cjs"],
  },
  {
    client: "node",
    engine: "engine-node",
    instance: "instance",
    lazy: "lazy-node",
    ownsLazy: true,
    formats: ["js"],
  },
  {
    client: "without-wasm",
    engine: "engine-without-wasm",
    instance: "instance-without-wasm",
    lazy: "lazy",
    formats: ["js", "cjs"],
  },
  {
    client: "without-wasm-node",
    engine: "engine-without-wasm-node",
    instance: "instance-without-wasm",
    lazy: "lazy-node",
    formats: ["js"],
  },
  {
    client: "workerd",
    engine: "engine-workerd",
    instance: "instance-precompiled",
    lazy: "lazy",
    formats: ["js"],
    wasm: "./engine.wasm",
  },
  {
    client: "edge-light",
    engine: "engine-edge-light",
    instance: "instance-precompiled",
    lazy: "lazy",
    formats: ["js"],
    wasm: "./engine.wasm?module",
  },
];

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
copyFileSync(join(generated, "engine_bg.wasm"), join(dist, "engine.wasm"));
for (const { formats, ...build } of builds) {
  await Promise.all(formats.map((extension) => bundle(build, extension)));
}
await Promise.all(["js", "cjs"].map(fallback));
await Promise.all(["js", "cjs"].map(fileStore));
declarations();

/** The module that src/engine/wasm.d.ts declares; `compiled` is what a platform imports as a compiled one. */
function wasmModule(compiled) {
  const wasm = readFileSync(join(generated, "engine_bg.wasm.deflated"));
  return `
    ${compiled === undefined ? "" : `export { default as module } from ${JSON.stringify(compiled)};`}
    export const base64 = ${JSON.stringify(wasm.toString("base64"))};
  `;
}

/** Writes the module that src/engine/fallback.d.ts declares. */
async function fallback(extension) {
  const translated = readFileSync(join(generated, "engine_bg.wasm2js.js"), "utf8");
  await build({
    stdin: {
      // It calls out for nothing but to say that it has failed, and to call what is not there fails too.
      contents: `${translated} export const fallback = () => instantiate({ "./engine_bg.js": {} });`,
    },
    outfile: join(dist, `fallback.${extension}`),
    format: formatOf(extension),
    target: "es2022",
    minify: true,
  });
}

/** The only file for Node.js alone: others are loaded by browsers too, and import nothing of Node's. */
async function fileStore(extension) {
  await build({
    entryPoints: [join(root, "src/file-store.ts")],
    outfile: join(dist, `file-store.${extension}`),
    bundle: true,
    format: formatOf(extension),
    platform: "node",
    target: "es2022",
    minify: true,
  });
}

function formatOf(extension) {
  return extension === "js" ? "esm" : "cjs";
}

async function bundle({ client, engine, instance, lazy, ownsLazy, wasm }, extension) {
  const isForNode = extension === "cjs" || client.endsWith("node");
  const chunk = (file) => ({ path: `./${file}.${extension}`, external: true });
  await build({
    absWorkingDir: root,
    entryPoints: {
      [client]: "src/index.ts",
      [engine]: "src/engine/client-core.ts",
      ...(ownsLazy && { [lazy]: "src/lazy/index.ts" }),
    },
    outdir: dist,
    outExtension: { ".js": `.${extension}` },
    bundle: true,
    format: formatOf(extension),
    platform: "neutral",
    target: "es2022",
    minify: !isForNode,
    // In a CommonJS file Node finds the exported names only if there is no import() of an ES module to be kept.
    supported: { "dynamic-import": extension === "js" },
    define: { PACKAGE_VERSION: JSON.stringify(version) },
    external: ["./engine.wasm*"],
    inject: ["src/internal/text.ts"],
    plugins: [
      {
        name: "engine",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /\/client-core\.js$/ }, () => chunk(engine));
          onResolve({ filter: /\/lazy\/index\.js$/ }, () => chunk(lazy));
          onResolve({ filter: /\/instance\.js$/ }, () => ({
            path: join(root, "src/engine", `${instance}.ts`),
          }));
          onResolve({ filter: /\/wasm\.js$/ }, () => ({ path: "wasm", namespace: "generated" }));
          onResolve({ filter: /\/fallback\.js$/ }, () => chunk("fallback"));
          onLoad({ filter: /.*/, namespace: "generated" }, () => ({
            contents: wasmModule(wasm),
            loader: "ts",
            resolveDir: dist,
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
    const forRequire = text.replaceAll(/(from "\.\/[\w-]+)\.js"/g, '$1.cjs"');
    if (/\.js"/.test(forRequire)) {
      throw new Error(`${file} imports in a way that its copy for require() does not follow`);
    }
    writeFileSync(join(dist, file.replace(".d.ts", ".d.cts")), forRequire);
  }
  rmSync(types, { recursive: true });
}
