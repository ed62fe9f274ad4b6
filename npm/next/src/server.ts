import type { EvaluationContext, FeatureFlagsClientOptions, FlagReader } from "@pennon/core";
import { connection } from "next/server.js";
import { requireSameVersion } from "../../same-version.js";
import { sessionFor } from "./internal/session.js";

export type { EvaluationContext, FlagReader, Snapshot } from "@pennon/core";

/** What `new FeatureFlagsClient` takes; `PENNON_SDK_KEY` and `PENNON_URL` of the environment say what is left out. */
export type FeatureFlagsServerOptions = Partial<FeatureFlagsClientOptions>;

/**
 * The flags as they are for this subject, and in `snapshot()` what a page needs to begin with the same.
 *
 * The first call in a process makes the client, and waits for its flags, but not longer than one attempt may take. If the
 * service is down, reads give their defaults until it is back. What asks for flags is rendered at each request.
 */
export async function getFeatureFlags<Custom extends object>(
  context?: EvaluationContext<Custom> | null,
  options?: FeatureFlagsServerOptions,
): Promise<FlagReader> {
  requireSameVersion();
  // First of all, so that building an application needs no service and no key, and keeps no flag for later.
  await connection();
  const { client, settled } = sessionFor(withEnvironment(options));
  await settled;
  return client.withContext(context);
}

function withEnvironment(options: FeatureFlagsServerOptions = {}): FeatureFlagsClientOptions {
  const { PENNON_SDK_KEY = "", PENNON_URL } = process.env;
  return {
    ...options,
    sdkKey: options.sdkKey ?? PENNON_SDK_KEY,
    baseUrl: options.baseUrl ?? PENNON_URL,
  };
}
