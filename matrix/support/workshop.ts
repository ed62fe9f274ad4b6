import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { copyFile, cp, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { run } from "./run.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder for the applications of this run. The tools are in its parent folder. */
    applications: string;
    /** The same next to Next.js 15. Empty unless all tools are tested. */
    applicationsOfNext15: string;
    /** The packages' tarballs, by folder name. */
    tarballs: Readonly<Record<string, string>>;
  }
}

const tools = new URL("../tools/", import.meta.url);
const next15 = new URL("next-15/", tools);
const packages = new URL("../../npm/", import.meta.url);
/** The packages that folders of `apps` need in addition to the core. */
const needs: Readonly<Record<string, readonly string[]>> = {
  "jest-next": ["react", "next"],
  nest: ["nest"],
  "next-flags": ["react", "next"],
  openfeature: ["openfeature"],
  react: ["react"],
  "vitest-next": ["react", "next"],
};
const npm = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];

/**
 * Packs the packages, and creates a folder for applications next to the tools of the lock file. Everything is outside
 * the repository, so that applications find nothing in its `node_modules` that a user would not have.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const all = process.env.PENNON_MATRIX === "all";
  await removeUnused();
  const folders = await Promise.all([
    folderBeside(tools, all ? "all" : "gate"),
    all ? folderBeside(next15, "next-15") : "",
  ]);
  const [applications, applicationsOfNext15] = folders;
  project.provide("applications", applications);
  project.provide("applicationsOfNext15", applicationsOfNext15);
  project.provide("tarballs", await packed(applications));
  return async () => {
    for (const folder of folders.filter(Boolean)) {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

/** Creates a folder for applications next to these tools. */
async function folderBeside(tools: URL, extent: Extent): Promise<string> {
  return mkdtemp(join(await installed(tools, extent), "run-"));
}

/** Packs all packages as they would be published, and returns their tarballs. */
async function packed(into: string): Promise<Readonly<Record<string, string>>> {
  const names = readdirSync(packages).filter((name) =>
    existsSync(new URL(`${name}/package.json`, packages)),
  );
  const folders = names.map((name) => fileURLToPath(new URL(name, packages)));
  const pack = ["pack", "--json", "--pack-destination", into, ...folders];
  const { stdout } = await run("npm", pack, { cwd: into });
  const tarballs: readonly { readonly name: string; readonly filename: string }[] =
    JSON.parse(stdout);
  return Object.fromEntries(
    tarballs.map(({ name, filename }) => [name.replace("@pennon/", ""), join(into, filename)]),
  );
}

/** The beginning of the names of all folders. Other users can predict the names. */
const prefix = `pennon-matrix-${userInfo().uid}-`;

/** Returns true for a folder to which only this user may write. */
function isOwn(folder: string): boolean {
  const { mode, uid } = lstatSync(folder);
  return (mode & 0o170022) === 0o040000 && uid === userInfo().uid;
}

/** The set of tools that are installed, and the suffix of their folder's name. */
type Extent = "gate" | "all" | "next-15";

/** Removes the tools that were last used more than a week ago. */
async function removeUnused(): Promise<void> {
  const week = 7 * 24 * 60 * 60 * 1000;
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(prefix))) {
    const folder = join(tmpdir(), name);
    // Each run creates a folder in it.
    if (isOwn(folder) && Date.now() - lstatSync(folder).mtimeMs > week) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Installs the tools once for each content of the lock file, and returns their folder. */
async function installed(tools: URL, extent: Extent): Promise<string> {
  const lock = readFileSync(new URL("package-lock.json", tools));
  const digest = createHash("sha256").update(lock).digest("hex").slice(0, 12);
  const folder = join(tmpdir(), `${prefix}${digest}-${extent}`);
  if (existsSync(folder)) {
    if (!isOwn(folder)) {
      throw new Error(`${folder} belongs to another user, or others may write to it: remove it`);
    }
    return folder;
  }
  // Installs into another folder first, so that the final one is always complete, even if two runs start at the same
  // time.
  const unfinished = await mkdtemp(`${folder}-`);
  for (const file of ["package.json", "package-lock.json"]) {
    await copyFile(new URL(file, tools), join(unfinished, file));
  }
  await run("npm", ["ci", extent === "gate" ? "--omit=dev" : "--include=dev", ...npm], {
    cwd: unfinished,
  });
  try {
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) {
      throw error;
    }
  }
  return folder;
}

/**
 * Creates an application from the files of these folders of `apps`, with the tarballs of the core and of the other
 * packages that a folder needs installed. The packages' other peer dependencies are among the tools.
 */
export async function application(
  names: readonly string[],
  into: string,
  tarballs: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = await mkdtemp(join(into, `${names[0]}-`));
  for (const source of ["shared", ...names]) {
    await cp(new URL(`../apps/${source}/`, import.meta.url), folder, { recursive: true });
  }
  const wanted = ["core", ...names.flatMap((name) => needs[name] ?? [])];
  const files = wanted.flatMap((name) => tarballs[name] ?? []);
  await install(files, folder);
  return folder;
}

/** Installs these tarballs in an application. */
export async function install(tarballs: readonly string[], folder: string): Promise<void> {
  const offline = ["--offline", "--legacy-peer-deps", ...npm];
  await run("npm", ["install", ...offline, ...tarballs], { cwd: folder });
}
