import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PreloadOptions, preloadFlags } from "@pennon/core/vite";
import { build, type UserConfig } from "vite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const server = "https://flags.example.com/pennon";
const publicKey = "pnp_key";
const client = `
  import { FeatureFlagsClient } from "@pennon/core";
  globalThis.flags = new FeatureFlagsClient({ sdkKey: "key" });
`;

/** The folder of an application in which the package is installed. */
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pennon-vite-"));
  mkdirSync(join(folder, "node_modules/@pennon"), { recursive: true });
  const installed = join(folder, "node_modules/@pennon/core");
  symlinkSync(fileURLToPath(new URL("..", import.meta.url)), installed);
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

interface Site {
  readonly base?: string;
  readonly page?: string;
  /** The other pages of the site. */
  readonly others?: readonly string[];
}

function pageWith(script: string): string {
  return `<html><head></head><script type="module" src="/${script}"></script></html>`;
}

/** Builds a page with this script, and returns the links of its head and the names of the files of the site. */
async function built(
  script: string,
  options: PreloadOptions | undefined,
  { base, page = "index.html", others = [] }: Site = {},
) {
  write({ "main.js": script, [page]: pageWith("main.js") });
  const config: UserConfig = {
    root: folder,
    logLevel: "error",
    plugins: [preloadFlags(options)],
    build: {
      write: false,
      rollupOptions: { input: [page, ...others].map((name) => join(folder, name)) },
    },
    ...(base !== undefined && { base }),
  };
  const results = await build({ ...config, configFile: false });
  const outputs = Array.isArray(results) ? results : [results];
  const files = outputs.flatMap((result) => ("output" in result ? result.output : []));
  const html = files.find(({ fileName }) => fileName === page);
  const text = html?.type === "asset" ? String(html.source) : "";
  const engine = files.find(({ fileName }) => /\/engine-[^/]+\.js$/.test(fileName))?.fileName;
  return { links: text.match(/<link[^>]*>/g) ?? [], engine };
}

const engineLink = (href: string) => `<link rel="modulepreload" href="${href}" crossorigin>`;

describe("the plugin for Vite", () => {
  it("links the engine and the flags of a public key", async () => {
    const { links, engine } = await built(client, { sdkKey: publicKey, baseUrl: `${server}/` });
    expect(links).toEqual([
      engineLink(`/${engine}`),
      `<link rel="preload" as="fetch" href="${server}/sdk/v1/public/pnp_key/config" crossorigin>`,
    ]);
  });

  it.each([undefined, {}, { sdkKey: "pnk_key", baseUrl: server }])(
    "links only the engine with the options %j",
    async (options) => {
      const { links, engine } = await built(client, options);
      expect(links).toEqual([engineLink(`/${engine}`)]);
    },
  );

  it.each([
    ["/shop/", "index.html", "/shop/"],
    ["https://cdn.example.com/", "index.html", "https://cdn.example.com/"],
    ["./", "index.html", "./"],
    ["./", "account/index.html", "../"],
  ])("finds the engine of a site at %s from %s", async (base, page, prefix) => {
    const { links, engine } = await built(client, {}, { base, page });
    expect(links).toEqual([engineLink(`${prefix}${engine}`)]);
  });

  it("links the engine of the client without WebAssembly", async () => {
    const script = client.replace("@pennon/core", "@pennon/core/without-wasm");
    const { links, engine } = await built(script, {});
    expect(engine).toMatch(/engine-without-wasm/);
    expect(links).toEqual([engineLink(`/${engine}`)]);
  });

  it("links the engine if the client is in a file that several pages share", async () => {
    const other = `import "./shared.js"; document.title = "other";`;
    write({ "shared.js": client, "other.js": other, "other.html": pageWith("other.js") });
    const site = { others: ["other.html"] };
    const { links, engine } = await built(`import "./shared.js";`, {}, site);
    expect(links).toContain(engineLink(`/${engine}`));
  });

  it("links nothing in a page that does not import the client, or only later", async () => {
    const options = { sdkKey: publicKey, baseUrl: server };
    expect((await built("document.title = 'shop';", options)).links).toEqual([]);
    write({ "account.js": client });
    const later = await built(`import("./account.js");`, options);
    expect(later.engine).toBeDefined();
    expect(later.links).toEqual([]);
  });

  it.each([
    [{ sdkKey: publicKey, baseUrl: "flags.example.com" }, /^baseUrl must be an absolute/],
    [{ sdkKey: "pnp key" }, /^sdkKey must be the SDK key/],
  ])("refuses the options %j as the client does", (options, message) => {
    expect(() => preloadFlags(options)).toThrow(message);
  });
});
