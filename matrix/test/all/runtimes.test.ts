import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { FakeServer } from "../../support/fake-server.ts";
import { binary, newApplication, output, tool } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";
import { startWorkerd } from "../../support/workerd.ts";

const programs = [
  ["main.js", "wasm"],
  ["main.cjs", "wasm"],
  ["without-wasm.js", "plain JavaScript"],
] as const;

describe.each([
  ["Deno", "@deno", "deno", ["run", "--allow-net", "--allow-read"]],
  ["Bun", "@oven", "bin/bun", ["run"]],
] as const)("%s", (name, scope, file, options) => {
  let folder: string;

  beforeAll(async () => {
    folder = await newApplication("node");
  });

  it.for(programs)("runs %s with the engine in %s", async ([program, engine], { skip }) => {
    const found = binary(scope, file) ?? skip(`npm has no ${name} for this machine`);
    await using server = await FakeServer.start();
    expectVectors(await output(folder, found, ...options, program, server.url), engine);
  });
});

describe("workerd", () => {
  it.each([
    ["the module that was compiled beforehand", "workerd,worker,browser", "wasm", "2026-11-01"],
    ["it before `fetch` had the option `cache`", "workerd,worker,browser", "wasm", "2024-01-01"],
    [
      "plain JavaScript where the bundler knows no such condition",
      "browser",
      "plain JavaScript",
      "2026-11-01",
    ],
  ] as const)("runs %s", async (_, conditions, engine, date) => {
    const folder = await builtWorker(conditions);
    await using server = await FakeServer.start();
    await using worker = await startWorkerd(folder, server.url, date);
    expectVectors(await (await fetch(worker.url)).text(), engine);
  });

  it("follows the flags with a client for each request", async () => {
    const folder = await builtWorker("workerd,worker,browser");
    await using server = await FakeServer.start();
    await using worker = await startWorkerd(folder, server.url);
    const read = async (maxAgeMs: number) =>
      (await fetch(`${worker.url}/flags?maxAgeMs=${maxAgeMs}`)).json();
    const flags = (enabled: boolean) => [{ key: "beta", enabled, rules: [], rollout: null }];
    server.change(flags(true));
    expect(await read(60_000)).toMatchObject({ enabled: true });
    server.change(flags(false));
    expect(await read(60_000)).toMatchObject({ enabled: true });
    expect(await read(-1)).toMatchObject({ enabled: false });
    expect(await read(60_000)).toMatchObject({ enabled: false });
    expect(server.firstFetches).toBe(1);
  });
});

/** Bundles the worker with these conditions, and returns the folder of the result. */
async function builtWorker(conditions: string): Promise<string> {
  const folder = await newApplication("workerd");
  await output(
    folder,
    tool("esbuild"),
    "worker.js",
    "--bundle",
    "--format=esm",
    `--conditions=${conditions}`,
    "--external:*.wasm",
    "--outfile=dist/worker.js",
  );
  const wasm = join(folder, "node_modules/@pennon/core/dist/engine.wasm");
  await copyFile(wasm, join(folder, "dist/engine.wasm"));
  return join(folder, "dist");
}
