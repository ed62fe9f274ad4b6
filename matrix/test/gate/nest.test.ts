import { beforeAll, describe, it } from "vitest";
import { FakeServer } from "../../support/fake-server.ts";
import { newApplication, output } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";

describe("@pennon/nest", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await newApplication("nest");
  });

  it.each(["main.js", "main.cjs"])("answers requests in %s", async (file) => {
    await using server = await FakeServer.start();
    expectVectors(await output(folder, process.execPath, file, server.url), "wasm");
  });
});
