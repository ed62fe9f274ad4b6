import { FeatureFlagsClient } from "@pennon/core";

/** Starts with the `bootstrap` of the server, then follows the flags. */
export async function start(bootstrap) {
  const client = new FeatureFlagsClient({ sdkKey: "pnk_your_key", bootstrap });
  client.withContext({ userId: "ada" }).isEnabled("new_checkout"); // available at once
  await client.initialize();
  return client;
}
