// One process of `cold.js`: reports the CPU time of a client's start beyond a bare fetch, in milliseconds.

const [client, service] = process.argv.slice(2);

/** The start of each client. It resolves to its answer for a flag with a rule. */
const starts = {
  async growthbook() {
    const { GrowthBook } = await import("@growthbook/growthbook");
    const imported = since(begin);
    const attributes = { country: "DE", plan: "premium" };
    const client = new GrowthBook({ apiHost: service, clientKey: "sdk-growthbook", attributes });
    await client.init();
    return { imported, isOn: client.isOn("feature-000") };
  },
  async pennon() {
    const { FeatureFlagsClient } = await import("@pennon/core");
    const imported = since(begin);
    const client = new FeatureFlagsClient({ sdkKey: "pnk_bench", baseUrl: service });
    await client.initialize();
    const context = { country: "DE", customAttributes: { plan: "premium" } };
    return { imported, isOn: client.evaluate("feature-000", context).enabled };
  },
};

// The first fetches of a process load the code for it, and make V8 optimize the parser of HTTP in the background.
for (let time = 0; time < 30; time += 1) {
  await (await fetch(`${service}/sdk/v1/config`)).text();
}
await new Promise((resolve) => setTimeout(resolve, 500));
const bareBegin = process.cpuUsage();
JSON.parse(await (await fetch(`${service}/sdk/v1/config`)).text());
const bare = since(bareBegin);
const begin = process.cpuUsage();
const { imported, isOn } = await starts[client]();
const total = since(begin);
console.log(JSON.stringify({ imported, started: total - imported - bare, isOn }));

/** Includes all threads: garbage collection and compilation are part of the cost. */
function since(begin) {
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1e3;
}
