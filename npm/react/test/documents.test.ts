// @vitest-environment node
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../../", import.meta.url);

/** Where the snippets of a document come from: files that are compiled, or run. */
const sources = {
  "npm/react/README.md": ["npm/react/test/snippets/", "npm/react/test/registered/"],
  "docs/react.md": ["examples/react-vite/src/", "npm/react/test/snippets/"],
};

describe.each(Object.entries(sources))("%s", (document, folders) => {
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(folder, root)).map((file) =>
      readFileSync(new URL(folder + file, root), "utf8"),
    ),
  );
  const text = readFileSync(new URL(document, root), "utf8");
  const snippets = Array.from(text.matchAll(/^```tsx?\n(.*?)^```$/gms), ([, code]) => code ?? "");

  it("shows code", () => {
    expect(snippets).not.toEqual([]);
  });

  it.each(snippets)("shows what is tried elsewhere: %j", (snippet) => {
    expect(files.some((file) => file.includes(snippet))).toBe(true);
  });
});
