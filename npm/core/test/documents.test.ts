import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { clientWith } from "./snippets/client-with.js";

const root = new URL("../../../", import.meta.url);

/** Where the snippets of a document come from: the files of these folders are run, or tested. */
const sources = {
  "docs/node.md": ["examples/node-express/src/", "npm/core/test/snippets/"],
  "docs/browser.md": ["examples/browser-plain/", "examples/browser-plain/public/"],
};

describe.each(Object.entries(sources))("%s", (document, folders) => {
  const files = folders
    .flatMap((folder) => readdirSync(new URL(folder, root)).map((file) => folder + file))
    .filter((file) => /\.(js|html)$/.test(file))
    .map((file) => readFileSync(new URL(file, root), "utf8"));
  const text = readFileSync(new URL(document, root), "utf8");
  const snippets = Array.from(text.matchAll(/^```(?:js|html)\n(.*?)^```$/gms), ([, code]) => code);

  it("shows code", () => {
    expect(snippets).not.toEqual([]);
  });

  it.each(snippets)("shows what is tried elsewhere: %j", (snippet = "") => {
    expect(files.some((file) => file.includes(snippet))).toBe(true);
  });
});

describe("docs/node.md", () => {
  it("shows a client for tests that works", async () => {
    const client = await clientWith("new_checkout");
    const flags = client.withContext({ userId: "ada" });
    expect(flags.isEnabled("new_checkout")).toBe(true);
    expect(flags.isEnabled("banner")).toBe(false);
    await client.shutdown();
  });
});
