import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * Writes the type declarations of the package in this folder into its dist/: one copy for `import` and one for
 * `require`. Declarations that no entry of the package needs are left out.
 */
export function writeDeclarations(root) {
  const dist = join(root, "dist");
  const tsc = createRequire(import.meta.url)
    .resolve("typescript/package.json")
    .replace("package.json", "bin/tsc");
  const project = join(root, "tsconfig.build.json");
  execFileSync(process.execPath, [tsc, "-p", project, "--outDir", dist], { stdio: "inherit" });
  const needed = neededDeclarations(root);
  for (const file of readdirSync(dist, { recursive: true })) {
    if (file.endsWith(".d.ts") && !needed.has(join(dist, file))) {
      rmSync(join(dist, file));
    } else if (file.endsWith(".d.ts")) {
      const text = readFileSync(join(dist, file), "utf8");
      if (text.includes("Uint8Array<")) {
        throw new Error(
          `${file} has a generic Uint8Array, which TypeScript before 5.7 does not know. Write the type as Uint8Array.`,
        );
      }
      const forRequire = text.replaceAll(/((?:from|import\() ?"\.[\w./-]+)\.js"/g, '$1.cjs"');
      if (/"\.[^"]*\.js"/.test(forRequire)) {
        throw new Error(
          `${file} has an import that the copy for require() cannot follow. Write it as from "./….js" or import("./….js").`,
        );
      }
      writeFileSync(join(dist, file.replace(/\.d\.ts$/, ".d.cts")), forRequire);
    }
  }
}

/** Returns the declarations that the manifest names, and those that they import. */
function neededDeclarations(root) {
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  const needed = new Set();
  const add = (file) => {
    if (!needed.has(file)) {
      needed.add(file);
      for (const [, path] of readFileSync(file, "utf8").matchAll(/"(\.[\w./-]+)\.js"/g)) {
        add(join(dirname(file), `${path}.d.ts`));
      }
    }
  };
  for (const [, path] of manifest.matchAll(/"\.\/(dist\/[\w./-]+\.d\.ts)"/g)) {
    add(join(root, path));
  }
  return needed;
}
