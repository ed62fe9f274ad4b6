import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, it } from "vitest";
import { Service } from "../../support/service.ts";
import { binary, newApplication, output, tool } from "../../support/tool.ts";
import { expectRightAnswers } from "../../support/vectors.ts";
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
    await using service = await Service.start();
    expectRightAnswers(await output(folder, found, ...options, program, service.url), engine);
  });
});

describe("workerd", () => {
  it.each([
    ["the module that was compiled beforehand", "workerd,worker,browser", "wasm"],
    ["plain JavaScript where the bundler knows no such condition", "browser", "plain JavaScript"],
  ] as const)("runs %s", async (_, conditions, engine) => {
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
    await using service = await Service.start();
    await using worker = await startWorkerd(join(folder, "dist"), service.url);
    expectRightAnswers(await (await fetch(worker.url)).text(), engine);
  });
});
