import { existsSync, readdirSync, readFileSync } from "node:fs";
import { VERSION } from "@pennon/core";
import { describe, expect, it } from "vitest";

const packages = new URL("../../", import.meta.url);
const manifests = readdirSync(packages)
  .map((folder) => new URL(`${folder}/package.json`, packages))
  .filter((manifest) => existsSync(manifest))
  .map((manifest) => JSON.parse(readFileSync(manifest, "utf8")));

describe("the packages", () => {
  it("have all the same version, which the core tells", () => {
    const versions = manifests.map(({ version }) => version);
    expect(new Set(versions)).toEqual(new Set([VERSION]));
  });

  it("ask each other for exactly that version", () => {
    const asked = manifests.flatMap(({ dependencies, peerDependencies }) =>
      Object.entries({ ...dependencies, ...peerDependencies }).filter(([name]) =>
        name.startsWith("@pennon/"),
      ),
    );
    expect(asked).not.toEqual([]);
    expect(asked.filter(([, version]) => version !== VERSION)).toEqual([]);
  });

  it("are all named, with that version, where it is said how to publish them", () => {
    const text = readFileSync(new URL("../docs/packages.md", packages), "utf8");
    const published = Array.from(text.matchAll(/^npm publish (.*)$/gm), ([, tarball]) => tarball);
    const tarballs = manifests.map(
      ({ name }) => `${name.slice(1).replace("/", "-")}-${VERSION}.tgz`,
    );
    expect(published.toSorted()).toEqual(tarballs.toSorted());
    const installed = Array.from(text.matchAll(/@pennon\/\w+@(\S+)/g), ([, version]) => version);
    expect(new Set(installed)).toEqual(new Set([VERSION]));
  });
});
