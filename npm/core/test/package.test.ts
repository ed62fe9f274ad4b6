import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const dist = new URL("dist/", root);
const scripts = readdirSync(dist).filter((file) => /\.c?js$/.test(file));

/** The modules that a file loads, by `import` and `require`. */
function loaded(file: string): readonly string[] {
  const text = readFileSync(new URL(file, dist), "utf8");
  const found = text.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*["']([^"']+)["']/g);
  return Array.from(found, ([, name = ""]) => name);
}

describe("the package", () => {
  it("has no dependencies, and runs no install scripts", () => {
    const { dependencies, peerDependencies, optionalDependencies, scripts } = manifest;
    expect([dependencies, peerDependencies, optionalDependencies]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const hooks = ["preinstall", "install", "postinstall", "prepare"];
    expect(Object.keys(scripts).filter((name) => hooks.includes(name))).toEqual([]);
  });

  it("can be tree-shaken", () => {
    expect(manifest.sideEffects).toBe(false);
  });

  it.each(scripts)("loads only its own files from %s", (file) => {
    const files = readdirSync(dist);
    const others = loaded(file).map((name) => name.replace("./", "").replace("?module", ""));
    const isForNode = /^(file-store|vite)\./.test(file);
    const foreign = others.filter((name) => !files.includes(name));
    expect(foreign.filter((name) => !(isForNode && name.startsWith("node:")))).toEqual([]);
    if (!isForNode) {
      expect(readFileSync(new URL(file, dist), "utf8")).not.toContain("import.meta");
    }
  });

  it("loads its engine and the fallback only on demand", () => {
    expect(loaded("index.js")).toEqual(expect.arrayContaining(["./engine.js", "./lazy.js"]));
    expect(loaded("engine.js")).toEqual(["./fallback.js"]);
    for (const file of ["index.js", "engine.js"]) {
      const text = readFileSync(new URL(file, dist), "utf8");
      expect(text).not.toMatch(/\bfrom\s*["']|\bimport\s*["']/);
    }
  });
});
