// Evaluates with a package. Each line of the input has flags and contexts, and produces a line of evaluations.

import { createInterface } from "node:readline";

const { FeatureFlagsClient } = await import(process.argv[2]);

/** The number of additional flags for the first line, the second and so on. They make the engine's memory grow. */
const FILLERS = [0, 200, 1_000, 100, 5_000];

let lines = 0;
let body = "";
const client = new FeatureFlagsClient({
  sdkKey: "pnk_none",
  pollIntervalMs: 0,
  transport: { send: async () => ({ status: 200, headers: new Headers(), body }) },
});

/** Evaluates each flag for each context: the first flag for all contexts, then the second flag, and so on. */
async function answers({ config, contexts }) {
  const fillers = Array.from({ length: FILLERS[lines % FILLERS.length] }, (_, index) => ({
    key: `filler_${index}`,
    enabled: true,
    rules: [],
    rollout: null,
  }));
  body = JSON.stringify({ flags: [...config.flags, ...fillers] });
  await (lines === 0 ? client.initialize() : client.refresh());
  lines += 1;
  return config.flags.flatMap(({ key }) =>
    contexts.map((context) => client.evaluate(key, context)),
  );
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answers(JSON.parse(line)))}\n`);
}
