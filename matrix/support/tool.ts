import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { run } from "./run.ts";
import { application } from "./workshop.ts";

/** Creates a throwaway application from these folders of `apps`. */
export function newApplication(...names: readonly string[]): Promise<string> {
  return application(names, inject("applications"), inject("tarballs"));
}

/** Creates a throwaway application that uses Next.js 15. */
export function newApplicationOfNext15(...names: readonly string[]): Promise<string> {
  return application(names, inject("applicationsOfNext15"), inject("tarballs"));
}

/** Returns the folder in which the tools are installed. */
export function toolsFolder(): string {
  return join(inject("applications"), "../node_modules");
}

/** Returns the program of a tool. */
export function tool(name: string): string {
  return join(toolsFolder(), ".bin", name);
}

/** Runs a tool in an application to its end, and returns its standard output. */
export async function output(
  cwd: string,
  program: string,
  ...arguments_: readonly string[]
): Promise<string> {
  return (await run(program, arguments_, { cwd })).stdout;
}

/** Returns the binary in one of a scope's packages. npm installs only the package for this machine. */
export function binary(scope: string, file: string): string | undefined {
  const folder = join(toolsFolder(), scope);
  const packages = existsSync(folder) ? readdirSync(folder) : [];
  return packages.map((name) => join(folder, name, file)).find((path) => existsSync(path));
}
