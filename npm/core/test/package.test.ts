import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const dist = new URL("dist/", root);
const scripts = readdirSync(dist).filter((file) => /\.c?js$/.test(file));

/** What a file loads, by `import` and `require`. */
function loaded(file: string): readonly string[] {
  const text = readFileSync(new URL(file, dist), "utf8");
  const found = text.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*["']([^"']+)["']/g);
  return Array.from(found, ([, name = ""]) => name);
}

describe("the package", () => {
  it("depends on nothing, and runs nothing when it is installed", () => {
    const { dependencies, peerDependencies, optionalDependencies, scripts } = manifest;
    expect([dependencies, peerDependencies, optionalDependencies]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const hooks = ["preinstall", "install", "postinstall", "prepare"];
    expect(Object.keys(scripts).filter((name) => hooks.includes(name))).toEqual([]);
  });

  it("may be left out where it is not used", () => {
    expect(manifest.sideEffects).toBe(false);
  });

  it.each(scripts)("loads from %s nothing but its own files", (file) => {
    const files = readdirSync(dist);
    const others = loaded(file).map((name) => name.replace("./", "").replace("?module", ""));
    const isForNode = file.startsWith("file-store.");
    const foreign = others.filter((name) => !files.includes(name));
    expect(foreign.filter((name) => !(isForNode && name.startsWith("node:")))).toEqual([]);
    expect(readFileSync(new URL(file, dist), "utf8")).not.toContain("import.meta");
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
