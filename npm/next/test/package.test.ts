import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it, onTestFinished, vi } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Returns the size that this package adds to an application with React, the core and `@pennon/react`. */
async function gzipped(): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [`${root}/dist/client.js`],
    bundle: true,
    minify: true,
    packages: "external",
    format: "esm",
    target: "es2022",
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length;
}

/** Imports an entry for servers in a separate process. */
function importFor(entry: string, ...conditions: readonly string[]): string {
  const program = `import("@pennon/next/${entry}").then((m) => console.log(Object.keys(m).join()))`;
  return execFileSync(process.execPath, [...conditions, "--eval", program], {
    cwd: root,
    encoding: "utf8",
    stdio: "pipe",
  });
}

describe("the entry for browsers", () => {
  it("is at most 1.5 KiB more than the core and the package for React, compressed", async () => {
    const bytes = await gzipped();
    console.log(`@pennon/next adds ${bytes} bytes, compressed`);
    expect(bytes).toBeLessThanOrEqual(1.5 * 1024);
  });

  it("begins with the directive that marks client code for Next.js", () => {
    expect(readFileSync(`${root}/dist/client.js`, "utf8")).toMatch(/^"use client";/);
  });

  it("reads no environment variables", () => {
    expect(readFileSync(`${root}/dist/client.js`, "utf8")).not.toContain("process.env");
  });
});

describe.each([
  ["server", "testing", "getFeatureFlags,streamFeatureFlags"],
  ["flags", "testing/flags", "createPennonAdapter,getProviderData,pennonAdapter"],
])("the entry for servers, %s,", (entry, mock, names) => {
  it("works in server components", () => {
    expect(importFor(entry, "--conditions=react-server").trim()).toBe(names);
  });

  it("fails elsewhere, with a message that says what to do", () => {
    expect(() => importFor(entry)).toThrow(/In client components, use the hooks/);
    expect(() => importFor(entry)).toThrow(`In tests, mock it with @pennon/next/${mock}.`);
  });
});

describe.each([
  ["testing", "getFeatureFlags,mockFeatureFlags,streamFeatureFlags"],
  ["testing/flags", "createPennonAdapter,getProviderData,pennonAdapter"],
])("the entry for tests, %s,", (entry, names) => {
  it("works anywhere", () => {
    expect(importFor(entry).trim()).toBe(names);
    expect(importFor(entry, "--conditions=react-server").trim()).toBe(names);
  });
});

describe("a core of another version", () => {
  it("is rejected with a message that says what to do", async () => {
    vi.resetModules();
    vi.doMock("@pennon/core", async (original) => ({
      ...(await original<typeof import("@pennon/core")>()),
      VERSION: "9.9.9",
    }));
    onTestFinished(() => {
      vi.doUnmock("@pennon/core");
      vi.resetModules();
    });
    const { getFeatureFlags } = await import("@pennon/next/server");
    await expect(getFeatureFlags()).rejects.toThrow(/found 9\.9\.9\. Install the same version/);
  });
});
