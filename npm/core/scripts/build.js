// Builds dist/ from src/ and the output of `cargo xtask wasm` in generated/.
//
// The client is one small file. The engine is another file, which contains the wasm and which initialize() loads. So no
// file has to be located at run time, and bundlers need no configuration. The fallback in plain JavaScript is loaded
// where wasm is missing or blocked.
//
// Browsers and edge runtimes get minified files. Node.js prints the source line of an uncaught error, so its files keep
// their lines and names, but no comments: all CommonJS files, and the ES modules of the condition `node`.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { writeDeclarations } from "../../declarations.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const generated = join(root, "generated");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const define = { PACKAGE_VERSION: JSON.stringify(version) };

// The client's file for each condition of package.json's `exports`; its engine and its lazy features are beside it.
// Workers import the wasm as a compiled module. With a `base`, the client is that one with another engine, to which
// Node.js needs no second copy.
const both = ["js", "cjs"];
const builds = [
  { client: "index", instance: "instance", formats: both },
  { client: "node", instance: "instance", formats: ["js"] },
  { client: "without-wasm", instance: "instance-without-wasm", formats: ["js"] },
  { client: "without-wasm", instance: "instance-without-wasm", formats: ["cjs"], base: "index" },
  { client: "without-wasm-node", instance: "instance-without-wasm", formats: ["js"], base: "node" },
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
await Promise.all(
  ["file-store", "vite"].flatMap((name) => both.map((extension) => forNode(name, extension))),
);
writeDeclarations(root);

/**
 * Returns the module that src/engine/wasm.d.ts declares. `compiled` is the path from which a platform imports a
 * compiled module.
 */
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
      // The engine imports only functions that report a failure. Without them, calling one fails too, which is enough.
      contents: `${translated} export const fallback = () => instantiate({ "./engine_bg.js": {} });`,
    },
    outfile: join(dist, `fallback.${extension}`),
    format: formatOf(extension),
    target: "es2022",
    minify: true,
  });
}

/** Writes a file that imports Node.js modules. Browsers load all files but these. */
async function forNode(name, extension) {
  await build({
    entryPoints: [join(root, `src/${name}.ts`)],
    outfile: join(dist, `${name}.${extension}`),
    bundle: true,
    format: formatOf(extension),
    platform: "node",
    target: "es2022",
    minify: true,
    define,
    logOverride: { "empty-import-meta": "silent" },
  });
}

function formatOf(extension) {
  return extension === "js" ? "esm" : "cjs";
}

async function bundle({ client, instance, wasm, base }, extension) {
  const isForNode = extension === "cjs" || client.endsWith("node");
  const engine = client === "index" ? "engine" : `engine-${client}`;
  const lazy = client.endsWith("node") ? "lazy-node" : "lazy";
  const chunk = (file) => ({ path: `./${file}.${extension}`, external: true });
  const entryPoints = {
    [client]: base === undefined ? "src/index.ts" : "src/without-wasm.ts",
    [engine]: "src/engine/client-core.ts",
    ...(base === undefined && { [lazy]: "src/lazy/index.ts" }),
  };
  await build({
    absWorkingDir: root,
    entryPoints,
    outdir: dist,
    outExtension: { ".js": `.${extension}` },
    bundle: true,
    format: formatOf(extension),
    platform: "neutral",
    target: "es2022",
    minify: !isForNode,
    // In a CommonJS file, Node.js finds the exported names only if no `import()` of an ES module is kept.
    supported: { "dynamic-import": extension === "js" },
    define: {
      ...define,
      // Only workers import compiled modules, and they have no page.
      RUNS_IN_PAGES: String(wasm === undefined),
      // Before the compatibility date 2024-11-11, Cloudflare's `fetch` rejects the option `cache`.
      HAS_HTTP_CACHE: String(client !== "workerd"),
    },
    external: ["./engine.wasm*"],
    inject: ["src/internal/text.ts"],
    plugins: [
      {
        name: "engine",
        setup({ onResolve, onLoad }) {
          if (base !== undefined) {
            onResolve({ filter: /\/index\.js$/ }, () => chunk(base));
          }
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
  if (isForNode) {
    const files = Object.keys(entryPoints).map((name) => join(dist, `${name}.${extension}`));
    await Promise.all(files.map(removeComments));
  }
}

/** Removes the lines of a file that contain only comments, and checks that its code is the same. */
async function removeComments(file) {
  const text = readFileSync(file, "utf8");
  const code = text.replace(/^\s*\/\*\*[\s\S]*?\*\/\n|^\s*\/\/.*\n/gm, "");
  const [before, after] = await Promise.all(
    [text, code].map((given) => transform(given, { minify: true })),
  );
  if (before.code !== after.code) {
    throw new Error(`${file} has a line that looks like a comment, but is code`);
  }
  writeFileSync(file, code);
}
