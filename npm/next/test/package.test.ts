import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { gzippedSize } from "../../test-kit/gzipped-size.ts";
import { describeOtherCore } from "../../test-kit/other-core.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

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
    const bytes = await gzippedSize({
      entryPoints: [`${root}/dist/provider.js`],
      packages: "external",
    });
    console.log(`@pennon/next adds ${bytes} bytes, compressed`);
    expect(bytes).toBeLessThanOrEqual(1.5 * 1024);
  });

  it("begins with the directive that marks client code for Next.js", () => {
    expect(readFileSync(`${root}/dist/provider.js`, "utf8")).toMatch(/^"use client";/);
  });

  it("has no path that Next.js 15.0 takes for one of its own, and compiles to CommonJS without our exports", () => {
    const files = readdirSync(`${root}/dist`, { recursive: true, encoding: "utf8" });
    const own =
      /(next[\\/]dist[\\/]shared[\\/]lib)|(next[\\/]dist[\\/]client)|(next[\\/]dist[\\/]pages)/;
    expect(
      files.map((file) => `@pennon/next/dist/${file}`).filter((path) => own.test(path)),
    ).toEqual([]);
  });

  it("reads no environment variables", () => {
    expect(readFileSync(`${root}/dist/provider.js`, "utf8")).not.toContain("process.env");
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

describeOtherCore(async () => {
  const { getFeatureFlags } = await import("@pennon/next/server");
  await getFeatureFlags();
});
