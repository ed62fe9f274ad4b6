// Measures new processes of Node.js, and new workers of workerd, Cloudflare's runtime, and prints the tables of
// docs/performance.md: `cargo xtask bench cold`.
//
// The clients take turns, each in a new process. Each asks for one flag with a rule.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import workerd from "workerd";
import { median } from "./median.js";
import { StandIn } from "./stand-in.js";

const ROUNDS = 15;

const run = promisify(execFile);
const service = await StandIn.start();
const baseUrl = `${service.url}/one`;
try {
  print("Node.js", ["`import`, ms", "start, ms"], await inTurns(nodeProcesses()));
  print("workerd", ["first response, ms"], await inTurns(await workers()));
} finally {
  service.stop();
}

/** Returns a measurement of each client in Node.js: the CPU time of its import, and of its start beyond a bare fetch. */
function nodeProcesses() {
  const clients = [
    ["GrowthBook", "growthbook"],
    ["`@pennon/core`", "pennon"],
  ];
  return clients.map(([name, client]) => [
    name,
    async () => {
      const script = join(import.meta.dirname, "cold/process.js");
      const { stdout } = await run(process.execPath, [script, client, baseUrl]);
      const { isOn, imported, started } = JSON.parse(stdout);
      expectOn(isOn, client);
      return [imported, started];
    },
  ]);
}

/** Returns a measurement of each worker: the time from the start of the runtime to the worker's first response. */
async function workers() {
  const folder = await mkdtemp(join(tmpdir(), "pennon-bench-"));
  process.once("exit", () => void rm(folder, { recursive: true }));
  const manifest = fileURLToPath(import.meta.resolve("@pennon/core/package.json"));
  await copyFile(join(manifest, "../dist/engine.wasm"), join(folder, "engine.wasm"));
  const clients = [
    ["a bare `fetch`", "bare"],
    ["GrowthBook", "growthbook"],
    ["`@pennon/core`", "pennon"],
  ];
  return Promise.all(
    clients.map(async ([name, client]) => {
      const configuration = await worker(folder, client);
      return [name, async () => [await firstResponse(configuration, client)]];
    }),
  );
}

/** Bundles a worker, and returns the file with its configuration. */
async function worker(folder, client) {
  await build({
    entryPoints: [join(import.meta.dirname, `cold/worker-${client}.js`)],
    outfile: join(folder, `${client}.js`),
    bundle: true,
    minify: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    external: ["*.wasm"],
  });
  const configuration = join(folder, `${client}.capnp`);
  const module = client === "pennon" ? `(name = "engine.wasm", wasm = embed "engine.wasm"),` : "";
  await writeFile(
    configuration,
    `
    using Workerd = import "/workerd/workerd.capnp";

    const config :Workerd.Config = (
      services = [
        (name = "worker", worker = .worker),
        (name = "internet", network = (allow = ["private", "public"])),
      ],
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
    );

    const worker :Workerd.Worker = (
      modules = [(name = "worker.js", esModule = embed "${client}.js"), ${module}],
      bindings = [(name = "SERVICE", text = "${baseUrl}")],
      compatibilityDate = "2026-11-01",
    );
    `,
  );
  return configuration;
}

async function firstResponse(configuration, client) {
  const begin = performance.now();
  const runtime = spawn(workerd.default, ["serve", "--control-fd=1", configuration], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [message] = await once(runtime.stdout.setEncoding("utf8"), "data");
    const { port } = JSON.parse(message.split("\n")[0]);
    const response = await fetch(`http://127.0.0.1:${port}`);
    const isOn = (await response.text()) === "true";
    const after = performance.now() - begin;
    expectOn(isOn, client);
    return after;
  } finally {
    runtime.kill();
    await once(runtime, "close");
  }
}

/** Returns the median of each number of each measurement, whose runs alternate. */
async function inTurns(measurements) {
  const runs = measurements.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, [, measure]] of measurements.entries()) {
      runs[index].push(await measure());
    }
  }
  return measurements.map(([name], index) => [
    name,
    runs[index][0].map((_, column) => median(runs[index].map((numbers) => numbers[column]))),
  ]);
}

function print(runtime, columns, rows) {
  console.log(`\n| ${[runtime, ...columns].join(" | ")} |`);
  console.log(`|---|${columns.map(() => "--:|").join("")}`);
  for (const [name, numbers] of rows) {
    console.log(`| ${[name, ...numbers.map((number) => number.toFixed(1))].join(" | ")} |`);
  }
}

function expectOn(isOn, client) {
  if (!isOn) {
    throw new Error(`${client} gave a wrong answer`);
  }
}
