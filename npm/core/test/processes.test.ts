import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";

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

type ModuleType = "module" | "commonjs";

/** Runs a script until its process ends. */
async function outputOf(type: ModuleType, script: string): Promise<string> {
  const { stdout, stderr } = await node(type, "@pennon/core", `${life}${script}`);
  return stdout + stderr;
}

/** Runs a script with the class `FeatureFlagsClient` of this entry. */
function node(type: ModuleType, entry: string, script: string) {
  const load =
    type === "module"
      ? `import { FeatureFlagsClient } from "${entry}";`
      : `const { FeatureFlagsClient } = require("${entry}");`;
  return run(process.execPath, [`--input-type=${type}`, "--eval", `${load}\n${script}`], {
    cwd,
    timeout: 20_000,
  });
}

/** Returns the output to stderr of a script that ends with an uncaught error. */
async function lastWords(...script: Parameters<typeof node>): Promise<string> {
  const failure = await node(...script).then(
    () => undefined,
    (error: { readonly stderr: string }) => error,
  );
  return failure?.stderr ?? "";
}

describe("a Node process", () => {
  it.each(["module", "commonjs"] as const)(
    "of type %s runs the package, and ends while it polls",
    async (type) => {
      const output = await outputOf(type, `main(transport, { pollIntervalMs: 30_000 });`);
      expect(output).toBe("true flag_enabled\n");
    },
  );

  it.each(["module", "commonjs"] as const)(
    "of type %s does without what wasm needs",
    async (type) => {
      const output = await outputOf(
        type,
        `
          process.getBuiltinModule = undefined;
          delete globalThis.DecompressionStream;
          const ignore = () => {};
          const info = (message) => console.log(message);
          main(transport, { logger: { debug: ignore, info, warn: info, error: info } });
        `,
      );
      expect(output).toMatch(/^WebAssembly is missing or blocked.*\ntrue flag_enabled\n$/);
    },
  );

  it.each(["module", "commonjs"] as const)(
    "of type %s does without process.getBuiltinModule, which is new in Node.js 20.16",
    async (type) => {
      const output = await outputOf(type, "process.getBuiltinModule = undefined; main(transport);");
      expect(output).toBe("true flag_enabled\n");
    },
  );

  it("does not end while a client with streaming waits for its next connection", async () => {
    const output = await outputOf(
      "commonjs",
      `
        let opened = 0;
        const open = async () => {
          opened += 1;
          if (opened === 2) {
            console.log("opened again");
            client.shutdown();
          }
          throw new Error("no");
        };
        const settings = { sdkKey: "k", transport: { ...transport, open }, streaming: true };
        const client = new FeatureFlagsClient(settings);
        client.initialize();
      `,
    );
    expect(output).toBe("opened again\n");
  });

  it("does not end while initialize() waits for the next attempt", async () => {
    const output = await outputOf(
      "commonjs",
      `
        let attempts = 0;
        const flaky = { send: () => attempts++ ? transport.send() : Promise.reject(new Error("no")) };
        main(flaky, { retryDelayMs: 50 });
      `,
    );
    expect(output).toBe("true flag_enabled\n");
  });
});

describe.each([
  ["module", "@pennon/core"],
  ["module", "@pennon/core/without-wasm"],
  ["commonjs", "@pennon/core"],
  ["commonjs", "@pennon/core/without-wasm"],
] as const)("an uncaught error of a %s process with %s", (type, entry) => {
  it("is printed with a short source line and with names", async () => {
    const stderr = await lastWords(type, entry, "new FeatureFlagsClient({});");
    expect(stderr).toContain("sdkKey must be the SDK key");
    expect(stderr).toMatch(/^FeatureFlagsError: sdkKey/m);
    expect(stderr).toMatch(/^ +at new FeatureFlagsClient /m);
    for (const line of stderr.split("\n")) {
      expect(line.length, line.slice(0, 200)).toBeLessThan(200);
    }
  });

  it("has the class by its name", async () => {
    const { stdout } = await node(type, entry, "console.log(FeatureFlagsClient.name);");
    expect(stdout).toBe("FeatureFlagsClient\n");
  });
});

describe("a file that browsers load", () => {
  it.each(["index", "without-wasm", "workerd", "edge-light"])(
    "is minified, and %s keeps the names of the classes",
    async (file) => {
      const url = new URL(`dist/${file}.js`, cwd);
      const text = await readFile(url, "utf8");
      expect(text.split("\n").length).toBeLessThan(10);
      const { FeatureFlagsClient, FeatureFlagsError } = await import(url.href);
      expect([FeatureFlagsClient.name, FeatureFlagsError.name]).toEqual([
        "FeatureFlagsClient",
        "FeatureFlagsError",
      ]);
    },
  );
});

describe("a file that is loaded at first use", () => {
  it("may be missing, for example after a deployment, and is loaded by the next call", async () => {
    const folder = await mkdtemp(join(tmpdir(), "pennon-files-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const install = (file: string) => copyFile(new URL(`dist/${file}`, cwd), join(folder, file));
    await install("index.cjs");
    const require = createRequire(import.meta.url);
    const { FeatureFlagsClient, FeatureFlagsError } = require(join(folder, "index.cjs"));
    const body = '{"enabled":true,"reason":"rollout"}';
    const transport = { send: async () => ({ status: 200, headers: new Headers(), body }) };
    const client = new FeatureFlagsClient({ sdkKey: "k", transport });
    const error = await client.evaluateRemote("beta").catch((error: unknown) => error);
    expect(error).toBeInstanceOf(FeatureFlagsError);
    expect(error).toMatchObject({ code: "EVALUATION_FAILED", cause: expect.any(Error) });
    await install("lazy.cjs");
    expect(await client.evaluateRemote("beta")).toEqual({ enabled: true, reason: "rollout" });
    await client.shutdown();
  });
});
