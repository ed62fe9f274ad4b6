// Measures new processes: `cargo xtask bench cold`.
//
// The clients take turns, each in a new process.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { StandIn } from "./stand-in.js";

const run = promisify(execFile);

const ROUNDS = 15;
const CLIENTS = [
  { name: "GrowthBook", client: "growthbook" },
  { name: "`@pennon/core`", client: "pennon" },
];

const service = await StandIn.start();
const runs = CLIENTS.map(() => []);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [index, { client }] of CLIENTS.entries()) {
    runs[index].push(await start(client));
  }
}
service.stop();

console.log("| | `import`, ms | start, ms |");
console.log("|---|--:|--:|");
for (const [index, { name }] of CLIENTS.entries()) {
  const imported = median(runs[index].map(({ imported }) => imported));
  const started = median(runs[index].map(({ started }) => started));
  console.log(`| ${name} | ${imported.toFixed(1)} | ${started.toFixed(1)} |`);
}

async function start(client) {
  const { stdout } = await run(process.execPath, [
    join(import.meta.dirname, "cold/node.js"),
    client,
    `${service.url}/one`,
  ]);
  const { isOn, ...times } = JSON.parse(stdout);
  if (!isOn) {
    throw new Error(`${client} gave a wrong answer`);
  }
  return times;
}

function median(numbers) {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[sorted.length >> 1];
}
