import { FeatureFlagsClient } from "@pennon/core";

/** The flags with which the next client starts, and the time of the last attempt to fetch them. */
let bootstrap;
let triedAt = 0;

/** Returns a client for one request. Unless Pennon is unreachable, its flags were confirmed in the last 30 seconds. */
export async function clientFor(options, maxAgeMs = 30_000) {
  const client = new FeatureFlagsClient({ ...options, bootstrap });
  await client.initialize();
  if (Date.now() - triedAt > maxAgeMs) {
    triedAt = Date.now();
    // If it fails, the client keeps its flags.
    await client.refresh().catch(() => {});
    bootstrap = client.snapshot();
  }
  return client;
}
