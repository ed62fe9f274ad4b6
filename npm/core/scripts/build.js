// Builds dist/ from src/ and from what `cargo xtask wasm` left in generated/.
//
// The client is one small file. The engine is another one, loaded by initialize(), with the wasm inside, so that nothing has
// to be found at run time and no bundler needs to be told anything. The fallback, of plain JavaScript, is loaded where wasm is
// refused.
//
// Browsers and edge runtimes get minified files. Node.js prints the source line of an error that nobody catches, so every
// file for it keeps its lines and names: all CommonJS, and ES modules of their own under the condition `node`.

import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { writeDeclarations } from "../../declarations.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const generated = join(root, "generated");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// The client's file for each condition of package.json's `exports`; its engine and the code on demand are beside it.
// Workers import the wasm as a compiled module.
const both = ["js", "cjs"];
const builds = [
  { client: "index", instance: "instance", formats: both },
  { client: "node", instance: "instance", formats: ["js"] },
  { client: "without-wasm", instance: "instance-without-wasm", formats: both },
  { client: "without-wasm-node", instance: "instance-without-wasm", formats: ["js"] },
  {
    client: "workerd",
    instance: "instance-precompiled",
    formats: ["js"],
    wasm: "./engine.wasm",
  },
  {
    client: "edge-light",
    instance: "instance-precompiled",
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
await Promise.all(both.map(fallback));
await Promise.all(both.map(fileStore));
writeDeclarations(root);
// None of what is not API.
for (const folder of ["engine", "internal", "lazy"]) {
  rmSync(join(dist, folder), { recursive: true });
}

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

async function bundle({ client, instance, wasm }, extension) {
  const isForNode = extension === "cjs" || client.endsWith("node");
  const engine = client === "index" ? "engine" : `engine-${client}`;
  const lazy = client.endsWith("node") ? "lazy-node" : "lazy";
  const chunk = (file) => ({ path: `./${file}.${extension}`, external: true });
  await build({
    absWorkingDir: root,
    entryPoints: {
      [client]: "src/index.ts",
      [engine]: "src/engine/client-core.ts",
      [lazy]: "src/lazy/index.ts",
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
