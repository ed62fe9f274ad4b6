import { beforeAll, describe, it } from "vitest";
import { FakeServer } from "../../support/fake-server.ts";
import { newApplication, output } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";

describe("Node.js", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await newApplication("node");
  });

  it.each([
    ["main.js", "wasm"],
    ["main.cjs", "wasm"],
    ["without-wasm.js", "plain JavaScript"],
    ["without-wasm.cjs", "plain JavaScript"],
  ] as const)("runs %s with the engine in %s", async (file, engine) => {
    await using server = await FakeServer.start();
    expectVectors(await output(folder, process.execPath, file, server.url), engine);
  });
});
