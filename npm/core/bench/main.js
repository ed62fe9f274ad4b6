// Measures the built package, and prints the table of docs/performance.md: `cargo xtask bench client`.
//
// Each loop is written out, so that the compiler sees a single callee in it, as in an application.

import { FeatureFlagsClient } from "@pennon/core";
import { bundledKib } from "./bundle.js";
import { configuration, contextFor, FEW, keys, ROLLED_OUT, RULED } from "./fixture.js";
import { megabytesInUse, milliseconds, nanoseconds } from "./measure.js";

const EVALUATIONS = 100_000;

const rows = [];
const megabytesOfWasm = watchWasm();

/** Counts the flags that are on, so that no evaluation is optimized away. */
let on = 0;

await loading();
await reading();
await memory();
row("browser bundle, gzip -9", { median: await bundledKib() }, "KiB", "20 KiB");

console.log("| | CPU time or size | is worth | at most |");
console.log("|---|--:|--:|--:|");
for (const cells of rows) {
  console.log(`| ${cells.join(" | ")} |`);
}
if (on === 0) {
  throw new Error("No flag was on, so the benchmark did not measure evaluations");
}

/** Measures reads, compared with a lookup in a `Map` and a property access. */
async function reading() {
  const client = await started();
  const flags = new Map(JSON.parse(configuration).flags.map((flag) => [flag.key, flag]));
  const reader = client.withContext(contextFor(0));
  const mixed = [...FEW.slice(0, 14), RULED, ROLLED_OUT];
  const unknown = FEW.map((key) => `${key}?`);

  const few = await nanoseconds(EVALUATIONS, {
    lookUps() {
      for (let number = 0; number < EVALUATIONS; number += 1) {
        on += flags.get(FEW[number & 15]).enabled ? 1 : 0;
      }
    },
    withoutContext() {
      for (let number = 0; number < EVALUATIONS; number += 1) {
        on += client.isEnabled(FEW[number & 15]) ? 1 : 0;
      }
    },
    ruled() {
      for (let number = 0; number < EVALUATIONS; number += 1) {
        on += client.evaluate(RULED, contextFor(number)).enabled ? 1 : 0;
      }
    },
    rolledOut() {
      for (let number = 0; number < EVALUATIONS; number += 1) {
        on += client.evaluate(ROLLED_OUT, contextFor(number)).enabled ? 1 : 0;
      }
    },
    absent() {
      for (let number = 0; number < EVALUATIONS; number += 1) {
        on += client.read(unknown[number & 15]) === undefined ? 1 : 0;
      }
    },
    bound() {
      for (let number = 0; number < EVALUATIONS; number += 1) {
        on += reader.isEnabled(mixed[number & 15]) ? 1 : 0;
      }
    },
  });
  const all = await nanoseconds(keys.length, {
    lookUps() {
      for (const key of keys) {
        on += flags.get(key).enabled ? 1 : 0;
      }
    },
    withoutContext() {
      for (const key of keys) {
        on += client.isEnabled(key) ? 1 : 0;
      }
    },
  });
  await client.shutdown();

  row("yardstick: `Map.get` and a property, 16 of 10,000 keys", few.lookUps, "ns");
  row("`isEnabled`, 16 of 10,000 flags", few.withoutContext, "ns", "25 ns");
  row("`evaluate`, a rule on country and a number", few.ruled, "ns", "100 ns");
  row("`evaluate`, a 25% rollout by a short `userId`", few.rolledOut, "ns", "80 ns");
  row("`read`, 16 missing keys", few.absent, "ns");
  row("bound reader, 16 flags of every kind", few.bound, "ns", "40 ns");
  row("yardstick: `Map.get` and a property, all 10,000 keys in no order", all.lookUps, "ns");
  row("`isEnabled`, all 10,000 flags in no order", all.withoutContext, "ns");
}

/** Measures the time from the text in memory to a ready client, compared with `JSON.parse` of the same text. */
async function loading() {
  const client = await started();
  const { parse, refresh, start } = await milliseconds(
    {
      parse: () => JSON.parse(configuration),
      refresh: () => client.refresh(),
      start: started,
    },
    { start: (client) => client.shutdown() },
  );
  await client.shutdown();

  row("yardstick: `JSON.parse` of 10,000 flags", parse, "ms");
  row("`refresh()`, 10,000 flags in hand to served", refresh, "ms", "1.0 ×");
  row("`initialize()` of one more client, 10,000 flags", start, "ms", "1.0 ×");
}

async function memory() {
  const before = megabytesInUse();
  const client = await started();
  const loaded = megabytesInUse() - before + megabytesOfWasm();
  for (let time = 0; time < 20; time += 1) {
    await client.refresh();
  }
  const refreshed = megabytesInUse() - before + megabytesOfWasm();
  on += client.isEnabled(RULED) ? 1 : 0;
  await client.shutdown();

  row("memory for 10,000 flags, heap and wasm", { median: loaded }, "MB", "3 MB");
  row("the same, after 20 refreshes", { median: refreshed }, "MB");
}

/** Adds a row with a time, or with a size. */
function row(what, { median, ratio }, unit, most = "") {
  const size = `${median.toFixed(median < 10 ? 2 : 1)} ${unit}`;
  rows.push([what, size, ratio === undefined ? "" : `${ratio.toFixed(2)} ×`, most]);
}

/** Returns a new client, whose transport has the configuration in memory. */
async function started() {
  let version = 0;
  const transport = {
    async send() {
      version += 1;
      return { status: 200, headers: new Headers({ ETag: `"${version}"` }), body: configuration };
    },
  };
  const client = new FeatureFlagsClient({ sdkKey: "pnk_bench", transport, pollIntervalMs: 0 });
  await client.initialize();
  return client;
}

/** Returns the megabytes of the newest wasm instance, without keeping an instance alive. */
function watchWasm() {
  const { instantiate } = WebAssembly;
  let newest;
  WebAssembly.instantiate = async (...module) => {
    const instance = await instantiate(...module);
    newest = new WeakRef(instance.exports.memory);
    return instance;
  };
  return () => newest.deref().buffer.byteLength / 1e6;
}
