import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject } from "vitest";
import type { Pennon } from "./pennon.ts";
import { run } from "./run.ts";
import { toolsFolder } from "./tool.ts";

/** A program that installs packages. */
export interface PackageManager {
  /** The program, and the arguments that precede all others. */
  readonly program: readonly [string, ...string[]];
  /** The arguments that install the dependencies in `package.json` and write the lock file. */
  readonly install: readonly string[];
  /** The arguments that install the packages in the lock file and refuse anything else. */
  readonly installLocked: readonly string[];
  /** Returns the files of an application that name the registry. The default is `.npmrc`. */
  readonly settings?: (pennon: Pennon) => Readonly<Record<string, string>>;
}

const packages = ["core", "react"] as const;

/**
 * Installs two packages from the server as its dashboard describes, and evaluates a flag with them. Repeats both from
 * the lock file, with nothing kept from the first installation.
 */
export async function expectInstalls(manager: PackageManager, pennon: Pennon): Promise<void> {
  const folder = await newApplication(manager, pennon);
  await install(manager, manager.install, folder, pennon);
  await expectWorks(folder, pennon);
  await rm(join(folder, "node_modules"), { recursive: true });
  await install(manager, manager.installLocked, folder, pennon);
  await expectWorks(folder, pennon);
}

async function newApplication(manager: PackageManager, pennon: Pennon): Promise<string> {
  const folder = await mkdtemp(join(inject("applications"), "registry-"));
  await cp(new URL("../apps/registry/", import.meta.url), folder, { recursive: true });
  const manifest = {
    private: true,
    type: "module",
    dependencies: {
      ...Object.fromEntries(packages.map((name) => [`@pennon/${name}`, "latest"])),
      // The only peer dependency that the server does not have.
      react: `file:${join(toolsFolder(), "react")}`,
    },
  };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  const { settings = npmrc } = manager;
  for (const [file, text] of Object.entries(settings(pennon))) {
    await writeFile(join(folder, file), text);
  }
  return folder;
}

function npmrc({ url }: Pennon): Readonly<Record<string, string>> {
  return { ".npmrc": `@pennon:registry=${url}/npm/\n` };
}

/** Runs a package manager without a cache, and with a new home folder that contains the token. */
async function install(
  { program: [program, ...first] }: PackageManager,
  arguments_: readonly string[],
  cwd: string,
  { url, token }: Pennon,
): Promise<void> {
  const home = await mkdtemp(join(inject("applications"), "home-"));
  await mkdir(join(home, "cache"));
  const { host } = new URL(url);
  await writeFile(join(home, ".npmrc"), `//${host}/npm/:_authToken=${token}\n`);
  const env = {
    HOME: home,
    XDG_CACHE_HOME: join(home, "cache"),
    npm_config_cache: join(home, "cache"),
    npm_config_userconfig: join(home, ".npmrc"),
  };
  await run(program, [...first, ...arguments_], { cwd, env });
}

async function expectWorks(folder: string, { url, sdkKey }: Pennon): Promise<void> {
  for (const name of packages) {
    const manifest = join(folder, "node_modules/@pennon", name, "package.json");
    const { version } = JSON.parse(await readFile(manifest, "utf8"));
    expect(version).toBe(await ownVersion());
  }
  const { stdout } = await run(process.execPath, ["main.js", url, sdkKey], { cwd: folder });
  expect(stdout).toBe("true function\n");
}

async function ownVersion(): Promise<string> {
  const manifest = new URL("../../npm/core/package.json", import.meta.url);
  return JSON.parse(await readFile(manifest, "utf8")).version;
}
