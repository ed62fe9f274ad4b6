import { FeatureFlagsClient } from "@pennon/core";

const client = new FeatureFlagsClient({ sdkKey: process.env.PENNON_SDK_KEY });
await client.initialize();

/** Returns the evaluations for one user, without rules. Send it to the browser as JSON. */
export function bootstrapFor(userId) {
  return client.withContext({ userId }).snapshot();
}
