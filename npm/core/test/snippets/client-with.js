import { FeatureFlagsClient } from "@pennon/core";

/** Creates a client for which these flags are on, and no others exist. */
export async function clientWith(...keys) {
  const client = new FeatureFlagsClient({
    sdkKey: "pnk_test",
    pollIntervalMs: 0,
    bootstrap: { flags: keys.map((key) => ({ key, enabled: true, rules: [], rollout: null })) },
  });
  await client.initialize();
  return client;
}
