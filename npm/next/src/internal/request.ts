import type { FeatureFlagsClientOptions } from "@pennon/core";
import { connection } from "next/server.js";
import { requireSameVersion } from "../../../shared/same-version.js";
import { type SharedClient, sharedClientFor } from "./shared-client.js";

/**
 * The options of `new FeatureFlagsClient`, without those of remote mode, because one client serves the contexts of all
 * requests. By default, `sdkKey` is the environment variable `PENNON_SDK_KEY`, and `baseUrl` is `PENNON_URL`.
 */
export type FeatureFlagsServerOptions = Partial<
  Omit<FeatureFlagsClientOptions, "mode" | "context">
>;

/** Returns the client of this process, after it has flags or the request has waited long enough. */
export async function sharedClientInRequest(
  options?: FeatureFlagsServerOptions,
): Promise<SharedClient> {
  requireSameVersion();
  // Called first, so that a build of the application needs neither Pennon nor a key, and prerenders no flag.
  await connection();
  // In a build, it resolves only for `force-static`.
  if (process.env.NEXT_PHASE === "phase-production-build") {
    throw new Error(
      'The page would keep the flags of its build. Remove `dynamic = "force-static"` from the route and its layouts.',
    );
  }
  const shared = sharedClientFor(withEnvironment(options));
  await shared.settled;
  return shared;
}

function withEnvironment(options: FeatureFlagsServerOptions = {}): FeatureFlagsClientOptions {
  const { PENNON_SDK_KEY = "", PENNON_URL } = process.env;
  return {
    ...options,
    sdkKey: options.sdkKey ?? PENNON_SDK_KEY,
    baseUrl: options.baseUrl ?? PENNON_URL,
  };
}
