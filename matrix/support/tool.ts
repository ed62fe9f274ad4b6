import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { run } from "./run.ts";
import { application } from "./workshop.ts";

/** A throw-away application, made of these folders of `apps`. */
export function newApplication(...names: readonly string[]): Promise<string> {
  return application(names, inject("applications"), inject("tarballs"));
}

/** The same, where Next.js is of version 15. */
export function newApplicationOfNext15(...names: readonly string[]): Promise<string> {
  return application(names, inject("applicationsOfNext15"), inject("tarballs"));
}

/** Where the tools are installed. */
export function toolsFolder(): string {
  return join(inject("applications"), "../node_modules");
}

/** The program of a tool. */
export function tool(name: string): string {
  return join(toolsFolder(), ".bin", name);
}

/** Runs a tool in an application, to its end, and gives what it prints. */
export async function output(
  cwd: string,
  program: string,
  ...arguments_: readonly string[]
): Promise<string> {
  return (await run(program, arguments_, { cwd })).stdout;
}

/** The binary in one of a scope's packages, of which npm installs the one for this machine. */
export function binary(scope: string, file: string): string | undefined {
  const folder = join(toolsFolder(), scope);
  const packages = existsSync(folder) ? readdirSync(folder) : [];
  return packages.map((name) => join(folder, name, file)).find((path) => existsSync(path));
}
