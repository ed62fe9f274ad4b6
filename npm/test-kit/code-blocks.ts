import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url);

/** A file that is compiled, linted or run, and that documents may show. */
interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/** Returns the text of a document, by its path in the repository. */
export function documentText(document: string): string {
  return readFileSync(new URL(document, root), "utf8");
}

/** Returns the code blocks of a text in these languages, without the indentation that they have in a list. */
export function codeBlocksOf(text: string, ...languages: readonly string[]): readonly string[] {
  const fence = new RegExp(`^( *)\`\`\`(?:${languages.join("|")})\\n(.*?)^\\1\`\`\`$`, "gms");
  return Array.from(text.matchAll(fence), ([, indentation = "", code = ""]) =>
    code.replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
  );
}

/**
 * Tests that a reader can paste each code block of a document. The block is a whole file of one of these folders, and
 * the document also shows and names the files that it imports by relative paths. The compiler and the linter, which
 * reject undeclared names, check the same files.
 */
export function describeDocument(document: string, folders: readonly string[]): void {
  describe(document, () => {
    const text = documentText(document);
    const blocks = codeBlocksOf(text, "html", "js", "jsx", "svelte", "ts", "tsx", "vue");
    const files = folders.flatMap(filesIn);
    const shown = files.filter((file) => blocks.includes(file.text));

    it("shows code", () => {
      expect(blocks).not.toEqual([]);
    });

    it.each(blocks)("shows a whole file: %j", (block) => {
      const file = files.find((file) => file.text === block);
      expect(file, "the block is not a whole file of the repository").toBeDefined();
    });

    it.each(shown)("defines what $name uses", (file) => {
      expect(file.text, "a declaration stands for a definition").not.toMatch(
        /^declare (?!module)/m,
      );
      for (const imported of importsOf(file.text)) {
        const isShown = shown.some(({ name }) => stem(name) === stem(imported));
        expect(isShown, `${imported} is imported, but not shown`).toBe(true);
        expect(text, `the path of ${imported} is not named`).toMatch(
          new RegExp(`\`([^\`\\n]*/)?${stem(imported)}\\.\\w+\``),
        );
      }
    });
  });
}

/** Tests that each program in these folders of snippets is shown by one of the documents. */
export function describeSnippets(folders: readonly string[], documents: readonly string[]): void {
  const texts = documents.map(documentText);

  const files = folders.flatMap(filesIn);

  it.each(files.filter(({ name }) => /(?<!\.d)\.[jt]sx?$/.test(name)))(
    "$name is shown by a document",
    (file) => {
      expect(texts.some((text) => text.includes(file.text))).toBe(true);
    },
  );
}

function filesIn(folder: string): readonly SourceFile[] {
  return readdirSync(new URL(folder, root), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, text: readFileSync(new URL(folder + name, root), "utf8") }));
}

/** Returns the paths of a file's imports that are neither packages nor style sheets. */
function importsOf(text: string): readonly string[] {
  return Array.from(text.matchAll(/from "((?:\.\.?|@)\/[^"]+)"/g), ([, path = ""]) => path);
}

/** Returns the name of a file without its folder and its ending. */
function stem(path: string): string {
  return basename(path).replace(/\.[cm]?[jt]sx?$/, "");
}
