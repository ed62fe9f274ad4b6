import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * Writes the type declarations of the package in this folder into its dist/: one copy for `import` and one for
 * `require`.
 */
export function writeDeclarations(root) {
  const dist = join(root, "dist");
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
        throw new Error(
          `${file} has an import that the copy for require() cannot follow. Write it as from "./….js" or import("./….js").`,
        );
      }
      writeFileSync(join(dist, file.replace(/\.d\.ts$/, ".d.cts")), forRequire);
    }
  }
}
