import { FeatureFlagsClient } from "@pennon/core";

/** Starts with the `bootstrap` of the page, then follows the flags. */
export async function start(bootstrap) {
  const client = new FeatureFlagsClient({ sdkKey: "pnp_your_key", bootstrap });
  client.withContext({ userId: "ada" }).isEnabled("new_checkout"); // available at once
  await client.initialize();
  return client;
}
