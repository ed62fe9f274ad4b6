import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../../", import.meta.url);

const snippetFolder = "npm/next/test/snippets/";
const example = ["", "app/", "app/flags/", "components/"].map(
  (path) => `examples/next-app/${path}`,
);

/** Where the snippets of a document come from: files that are compiled, or built and run. */
const sources = {
  "npm/next/README.md": [snippetFolder],
  "docs/next.md": [...example, snippetFolder],
};

describe.each(Object.entries(sources))("%s", (document, folders) => {
  const files = folders
    .flatMap((folder) => readdirSync(new URL(folder, root)).map((file) => folder + file))
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(new URL(file, root), "utf8"));
  const text = readFileSync(new URL(document, root), "utf8");
  const snippets = Array.from(text.matchAll(/^```tsx?\n(.*?)^```$/gms), ([, code]) => code ?? "");

  it("shows code", () => {
    expect(snippets).not.toEqual([]);
  });

  it.each(snippets)("shows what is tried elsewhere: %j", (snippet) => {
    expect(files.some((file) => file.includes(snippet))).toBe(true);
  });
});
