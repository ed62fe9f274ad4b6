// Pennon in one script: creates an environment, a flag, a rule and a rollout over REST, and compares the evaluations of
// the server and of the npm client. Run it in the root folder of the repository with `node examples/quickstart`.

import { FeatureFlagsClient } from "@pennon/core";
import { Api, QuickstartError } from "./api.js";

const {
  PENNON_URL: baseUrl = "http://127.0.0.1:3000",
  PENNON_ADMIN_EMAIL: email = "admin@pennon.local",
  PENNON_ADMIN_PASSWORD: password,
} = process.env;

/** The time limit for the client to notice a change, in milliseconds. It polls ten times as often. */
const TIMEOUT_MS = 5_000;

/** Contexts. A real application uses the signed-in user and the request. */
const people = [
  { name: "Ada, GB, 12 seats", userId: "ada", country: "GB", customAttributes: { seats: 12 } },
  { name: "Grace, GB, 3 seats", userId: "grace", country: "GB", customAttributes: { seats: 3 } },
  { name: "Linus, FI, 40 seats", userId: "linus", country: "FI", customAttributes: { seats: 40 } },
  { name: "a visitor from GB", country: "GB" },
];

async function main() {
  if (!password) {
    throw new QuickstartError(
      "PENNON_ADMIN_PASSWORD is not set. The server printed the password at its first start:\n" +
        "  PENNON_ADMIN_PASSWORD='…' node examples/quickstart",
    );
  }
  const api = new Api(baseUrl);
  await api.signIn(email, password);

  // Keys and names must be unique, so each run uses new ones. Only this response contains the SDK key.
  const run = Date.now().toString(36);
  const environment = await api.post("/environments", { product: "Quickstart", name: run });
  const flag = await api.post("/flags", {
    key: `new_checkout_${run}`,
    name: "New checkout",
    type: "boolean",
  });

  // A new flag is off everywhere. Rules are evaluated in the order of their priority. The first match determines the
  // value.
  const configuration = `/flags/${flag.id}/environments/${environment.id}`;
  await api.post(`${configuration}/rules`, {
    priority: 1,
    logic: "and",
    value: true,
    conditions: [
      { attribute: "country", operator: "==", valueType: "string", valueString: "GB" },
      { attribute: "seats", operator: ">=", valueType: "number", valueInt: 10 },
    ],
  });
  // For users who match no rule, a hash of `userId` decides. It never changes and is the same on every machine.
  await api.put(`${configuration}/rollout`, { percentage: 30, strategy: "per_user" });
  await api.put(configuration, { isEnabled: true });
  console.log("New checkout is on for GB with 10 seats or more, and for 30% of all others.\n");

  const client = new FeatureFlagsClient({
    baseUrl,
    sdkKey: environment.sdkKey,
    pollIntervalMs: TIMEOUT_MS / 10,
  });
  await client.initialize();
  await compare(api, client, environment.sdkKey, flag.key);

  await Promise.all([
    refreshUntil(client, () => !client.isEnabled(flag.key)),
    api.put(configuration, { isEnabled: false }),
  ]);
  console.log("\nNew checkout is switched off, and the client has followed.\n");
  await compare(api, client, environment.sdkKey, flag.key);

  await client.shutdown();
  await api.signOut();
  console.log(`\nServer and client agree. See for yourself: ${baseUrl}/dashboard`);
}

/** Prints the evaluations of the server and of the client, and fails if they differ for any context. */
async function compare(api, client, sdkKey, flagKey) {
  print("", "server says", "client says");
  let agree = true;
  for (const { name, ...context } of people) {
    const remote = show(await api.evaluate(sdkKey, flagKey, context));
    const local = show(client.evaluate(flagKey, context));
    print(name, remote, local);
    agree &&= remote === local;
  }
  if (!agree) {
    throw new QuickstartError("Server and client do not agree. That should not be possible.");
  }
}

/** Resolves at the first refresh after which the condition holds. The client polls on its own schedule. */
function refreshUntil(client, condition) {
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(new QuickstartError(`The client did not follow in ${TIMEOUT_MS} ms.`));
    const timer = setTimeout(late, TIMEOUT_MS);
    client.on("refresh:success", () => {
      if (condition()) {
        clearTimeout(timer);
        resolve();
      }
    });
  });
}

function show({ enabled, reason }) {
  return `${enabled ? "on " : "off"}  ${reason}`;
}

function print(name, remote, local) {
  console.log(`  ${name.padEnd(22)}${remote.padEnd(22)}${local}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof QuickstartError ? error.message : error);
  process.exitCode = 1;
}
