import { existsSync, readdirSync, readFileSync } from "node:fs";
import { VERSION } from "@pennon/core";
import { describe, expect, it } from "vitest";

const packages = new URL("../../", import.meta.url);
const manifests = readdirSync(packages)
  .map((folder) => new URL(`${folder}/package.json`, packages))
  .filter((manifest) => existsSync(manifest))
  .map((manifest) => JSON.parse(readFileSync(manifest, "utf8")));

describe("the packages", () => {
  it("all have the same version, which the core exports", () => {
    const versions = manifests.map(({ version }) => version);
    expect(new Set(versions)).toEqual(new Set([VERSION]));
  });

  it("depend on each other in exactly that version", () => {
    const required = manifests.flatMap(({ dependencies, peerDependencies }) =>
      Object.entries({ ...dependencies, ...peerDependencies }).filter(([name]) =>
        name.startsWith("@pennon/"),
      ),
    );
    expect(required).not.toEqual([]);
    expect(required.filter(([, version]) => version !== VERSION)).toEqual([]);
  });

  it("are all named, with that version, in the instructions for publishing", () => {
    const text = readFileSync(new URL("../docs/packages.md", packages), "utf8");
    const published = Array.from(
      text.matchAll(/^npm publish --access restricted --provenance=false (.*)$/gm),
      ([, tarball]) => tarball,
    );
    const tarballs = manifests.map(
      ({ name }) => `${name.slice(1).replace("/", "-")}-${VERSION}.tgz`,
    );
    expect(published.toSorted()).toEqual(tarballs.toSorted());
    const installed = Array.from(text.matchAll(/@pennon\/\w+@(\S+)/g), ([, version]) => version);
    expect(new Set(installed)).toEqual(new Set([VERSION]));
  });

  it("are all published by the release workflow", () => {
    const workflow = readFileSync(new URL("../.github/workflows/release.yml", packages), "utf8");
    const published = /for package in (.*); do/.exec(workflow)?.[1]?.split(" ") ?? [];
    const names = manifests.map(({ name }) => name.replace("@pennon/", ""));
    expect(published.toSorted()).toEqual(names.toSorted());
  });

  it("name the project's addresses, and their folder in the repository", () => {
    const project = readFileSync(new URL("../project.toml", packages), "utf8");
    const address = (name: string) => new RegExp(`^${name} = "(.*)"$`, "m").exec(project)?.[1];
    const repository = address("repository");
    for (const manifest of manifests) {
      const folder = manifest.name.replace("@pennon/", "npm/");
      expect(manifest).toMatchObject({
        author: "The Pennon authors",
        homepage: address("documentation"),
        repository: { type: "git", url: `git+${repository}.git`, directory: folder },
        bugs: `${repository}/issues`,
        engines: { node: expect.any(String) },
      });
    }
  });

  // npm can create a provenance statement only in the release workflow, and does not publish without one.
  it("cannot become public by accident", () => {
    for (const { publishConfig } of manifests) {
      expect(publishConfig).toEqual({ access: "public", provenance: true });
    }
  });
});
