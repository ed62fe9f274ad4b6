import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);
const cwd = new URL("..", import.meta.url);

const life = `
  const transport = {
    send: async () => ({
      status: 200,
      headers: new Headers(),
      body: '{"flags":[{"key":"beta","enabled":true,"rules":[],"rollout":null}]}',
    }),
  };
  const main = async (transport, more) => {
    const client = new FeatureFlagsClient({ sdkKey: "k", transport, ...more });
    await client.initialize();
    console.log(client.isEnabled("beta"), client.evaluate("beta", {}).reason);
  };
`;

/** Runs a script to the end of its process. */
async function output(type: "module" | "commonjs", script: string): Promise<string> {
  const load =
    type === "module"
      ? `import { FeatureFlagsClient } from "@pennon/core";`
      : `const { FeatureFlagsClient } = require("@pennon/core");`;
  const { stdout, stderr } = await run(
    process.execPath,
    [`--input-type=${type}`, "--eval", `${load}${life}${script}`],
    { cwd, timeout: 20_000 },
  );
  return stdout + stderr;
}

describe("a Node process", () => {
  it.each(["module", "commonjs"] as const)(
    "of type %s runs the package, and ends while it polls",
    async (type) => {
      const said = await output(type, `main(transport, { pollIntervalMs: 30_000 });`);
      expect(said).toBe("true flag_enabled\n");
    },
  );

  it.each(["module", "commonjs"] as const)(
    "of type %s does without what wasm needs",
    async (type) => {
      const said = await output(
        type,
        `
          delete globalThis.DecompressionStream;
          const ignore = () => {};
          const info = (message) => console.log(message);
          main(transport, { logger: { debug: ignore, info, warn: info, error: info } });
        `,
      );
      expect(said).toMatch(/^WebAssembly is refused here: .*\ntrue flag_enabled\n$/);
    },
  );

  it("does not end while initialize() waits for the next attempt", async () => {
    const said = await output(
      "commonjs",
      `
        let attempts = 0;
        const flaky = { send: () => attempts++ ? transport.send() : Promise.reject(new Error("no")) };
        main(flaky, { retryDelayMs: 50 });
      `,
    );
    expect(said).toBe("true flag_enabled\n");
  });
});
