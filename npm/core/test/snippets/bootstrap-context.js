import { FeatureFlagsClient } from "@pennon/core";

/** Returns a client that evaluates flags for this context before the page has loaded the engine. */
export async function clientFor(context) {
  const client = new FeatureFlagsClient({ sdkKey: "pnp_your_key", bootstrapContext: context });
  await client.initialize();
  return client;
}
