import { beforeAll, describe, it } from "vitest";
import { Service } from "../../support/service.ts";
import { newApplication, output } from "../../support/tool.ts";
import { expectRightAnswers } from "../../support/vectors.ts";

describe("@pennon/nest", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await newApplication("nest");
  });

  it.each(["main.js", "main.cjs"])("answers requests in %s", async (file) => {
    await using service = await Service.start();
    expectRightAnswers(await output(folder, process.execPath, file, service.url), "wasm");
  });
});
