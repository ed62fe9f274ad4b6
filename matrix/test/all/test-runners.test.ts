import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "vitest";
import { FakeServer } from "../../support/fake-server.ts";
import { run } from "../../support/run.ts";
import { newApplication, output, tool } from "../../support/tool.ts";
import { expectVectors } from "../../support/vectors.ts";

/** Runs the application's test in a test runner, and returns the results, which the test writes to a file. */
async function resultsIn(name: string, arguments_: readonly string[], cwd: string) {
  await using server = await FakeServer.start();
  await run(tool(name), arguments_, { cwd, env: { PENNON_URL: server.url } });
  return readFile(join(cwd, "results.json"), "utf8");
}

const environments = ["node", "jsdom"];

describe("Jest", () => {
  it.each(environments)("runs wasm in its environment %s", async (environment) => {
    const folder = await newApplication("jest");
    await output(
      folder,
      tool("esbuild"),
      "evaluate-vectors.js",
      "--format=cjs",
      "--outfile=evaluate-vectors.cjs",
    );
    expectVectors(await resultsIn("jest", [`--env=${environment}`], folder), "wasm");
  });

  it("tests server components of Next.js with flags of its own", async () => {
    const folder = await newApplication("jest-next");
    await output(folder, tool("jest"), "mocked");
    await output(folder, tool("jest"), "mapped", "--config=mapped.json");
  });
});

describe("Vitest", () => {
  it.each(environments)("runs wasm in its environment %s", async (environment) => {
    const folder = await newApplication("vitest");
    const arguments_ = ["run", `--environment=${environment}`];
    expectVectors(await resultsIn("vitest", arguments_, folder), "wasm");
  });

  it("tests server components of Next.js with flags of its own", async () => {
    const folder = await newApplication("vitest-next");
    await output(folder, tool("vitest"), "run", "mocked");
    await output(folder, tool("vitest"), "run", "mapped", "--config=mapped.config.js");
  });
});
