import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const folder = new URL("snippets/", import.meta.url);
const files = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), "utf8"));
const text = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const snippets = Array.from(text.matchAll(/^```tsx?\n(.*?)^```$/gms), ([, code]) => code ?? "");

describe("README.md", () => {
  it("shows code", () => {
    expect(snippets).not.toEqual([]);
  });

  it.each(snippets)("shows what is compiled elsewhere: %j", (snippet) => {
    expect(files.some((file) => file.includes(snippet))).toBe(true);
  });
});
