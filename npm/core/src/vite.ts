import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { publicUrlOf } from "./internal/exchange.js";
import { isPublicKey, parseOptions } from "./internal/settings.js";

/** The options of the page's client. */
export interface PreloadOptions {
  /**
   * The SDK key. The flags of a public environment (`pnp_…`) are preloaded. With the key of a server, or without one,
   * only the engine is.
   */
  readonly sdkKey?: string | undefined;
  /** The address of the Pennon server. Default `http://127.0.0.1:3000`, as for the client. */
  readonly baseUrl?: string | undefined;
}

/** The plugin, which Vite's type `Plugin` accepts. */
export interface PreloadPlugin {
  readonly name: string;
  readonly apply: "build";
  readonly transformIndexHtml: {
    readonly order: "post";
    readonly handler: (html: string, page: BuiltPage) => Link[];
  };
}

/** The parts of a built page that the plugin reads. */
export interface BuiltPage {
  /** The files of the site, by name. */
  readonly bundle?: Readonly<Record<string, BuiltFile>>;
  /** The file that the page loads first. */
  readonly chunk?: BuiltFile;
}

/** A built file. Only scripts import others, and have modules. */
export interface BuiltFile {
  readonly fileName: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly moduleIds?: readonly string[];
}

/** A link in the head of a page. */
export interface Link {
  tag: "link";
  attrs: Record<string, string | true>;
  injectTo: "head";
}

/**
 * A plugin for Vite that makes built pages load the engine and, with a public key, the flags together with the page's
 * scripts, instead of after them. Applies to pages whose first scripts import the client. Throws `INVALID_OPTIONS` for
 * options that the client would refuse.
 */
export function preloadFlags({ sdkKey, baseUrl }: PreloadOptions = {}): PreloadPlugin {
  const flags = sdkKey === undefined ? undefined : addressOfFlags({ sdkKey, baseUrl });
  return {
    name: "pennon-preload-flags",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {}, chunk }) {
        const scripts = firstScripts(chunk, bundle);
        const later = scripts.flatMap(({ dynamicImports = [] }) => filesOf(dynamicImports, bundle));
        const engine = [...scripts, ...later].find(hasEngine);
        if (engine === undefined) {
          return [];
        }
        const folder = addressOfFolder(html, scripts);
        const isLater = folder !== undefined && !scripts.includes(engine);
        return [
          ...(isLater ? [link({ rel: "modulepreload", href: folder + engine.fileName })] : []),
          ...(flags === undefined ? [] : [link({ rel: "preload", as: "fetch", href: flags })]),
        ];
      },
    },
  };
}

/** Returns the address of the flags, if a link can load them. */
function addressOfFlags(options: {
  readonly sdkKey: string;
  readonly baseUrl: string | undefined;
}) {
  const settings = parseOptions(options);
  return isPublicKey(options) ? publicUrlOf(settings, "config") : undefined;
}

/** Returns the files that the page loads before it runs a script. */
function firstScripts(
  entry: BuiltFile | undefined,
  bundle: Readonly<Record<string, BuiltFile>>,
): readonly BuiltFile[] {
  const files = new Set(entry === undefined ? [] : [entry]);
  // A set also iterates over what is added meanwhile.
  for (const { imports = [] } of files) {
    for (const file of filesOf(imports, bundle)) {
      files.add(file);
    }
  }
  return [...files];
}

function filesOf(names: readonly string[], bundle: Readonly<Record<string, BuiltFile>>) {
  return names.flatMap((name) => bundle[name] ?? []);
}

/** The path of this file, which is published as an ES module and as a CommonJS module. */
const file = typeof __filename === "string" ? __filename : fileURLToPath(import.meta.url);

/** The beginning of the paths of this package's engines, as Vite writes paths. */
const ENGINES = `${dirname(file).replaceAll("\\", "/")}/engine`;

function hasEngine({ moduleIds = [] }: BuiltFile): boolean {
  return moduleIds.some((id) => id.startsWith(ENGINES));
}

/** Returns the address that the page has for the folder of the site, of which it loads these scripts. */
function addressOfFolder(html: string, scripts: readonly BuiltFile[]): string | undefined {
  for (const { fileName } of scripts) {
    const end = html.indexOf(`${fileName}"`);
    if (end >= 0) {
      return html.slice(html.lastIndexOf('"', end) + 1, end);
    }
  }
  return undefined;
}

function link(attrs: Readonly<Record<string, string>>): Link {
  return { tag: "link", attrs: { ...attrs, crossorigin: true }, injectTo: "head" };
}
