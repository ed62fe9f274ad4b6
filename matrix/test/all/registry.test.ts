import { join } from "node:path";
import { it } from "vitest";
import { Pennon } from "../../support/pennon.ts";
import { expectInstalls, type PackageManager } from "../../support/registry.ts";
import { binary, tool, toolsFolder } from "../../support/tool.ts";

const node = process.execPath;
const inTools = (file: string) => join(toolsFolder(), file);

const managers: readonly (readonly [string, () => PackageManager])[] = [
  [
    "pnpm",
    () => ({
      program: [tool("pnpm")],
      install: ["install"],
      installLocked: ["install", "--frozen-lockfile"],
    }),
  ],
  [
    "Yarn 1",
    () => ({
      program: [node, inTools("yarn/bin/yarn.js")],
      install: ["install"],
      installLocked: ["install", "--frozen-lockfile"],
    }),
  ],
  [
    "Yarn",
    () => ({
      program: [node, inTools("@yarnpkg/cli-dist/bin/yarn.js")],
      install: ["install", "--no-immutable"],
      installLocked: ["install", "--immutable"],
      // With its own lock file, the application is not part of a project in a parent folder.
      settings: ({ url, token }) => ({ ".yarnrc.yml": yarnrc(url, token), "yarn.lock": "" }),
    }),
  ],
];

function yarnrc(url: string, token: string): string {
  const { hostname } = new URL(url);
  return `
nodeLinker: node-modules
# For this test, as the server has no TLS here.
unsafeHttpWhitelist: ["${hostname}"]
npmScopes:
  pennon:
    npmRegistryServer: "${url}/npm"
    npmAuthToken: "${token}"
    npmMinimalAgeGate: 0
`;
}

it.each(managers)("%s installs the packages from the server", async (_, manager) => {
  await using pennon = await Pennon.start();
  await expectInstalls(manager(), pennon);
});

it("Bun installs the packages from the server", async ({ skip }) => {
  const bun = binary("@oven", "bin/bun") ?? skip("npm has no Bun for this machine");
  await using pennon = await Pennon.start();
  const manager = {
    program: [bun],
    install: ["install", "--no-cache"],
    installLocked: ["install", "--no-cache", "--frozen-lockfile"],
  } as const;
  await expectInstalls(manager, pennon);
});
