import type { FeatureFlagsClientOptions } from "@pennon/core";
import { connection } from "next/server.js";
import { requireSameVersion } from "../../../same-version.js";
import { type Session, sessionFor } from "./session.js";

/** What `new FeatureFlagsClient` takes; `PENNON_SDK_KEY` and `PENNON_URL` of the environment say what is left out. */
export type FeatureFlagsServerOptions = Partial<FeatureFlagsClientOptions>;

/** The session of this process, once it has flags, or when the request under way is to wait for them no longer. */
export async function sessionInRequest(options?: FeatureFlagsServerOptions): Promise<Session> {
  requireSameVersion();
  // First of all, so that building an application needs no service and no key, and keeps no flag for later.
  await connection();
  const session = sessionFor(withEnvironment(options));
  await session.settled;
  return session;
}

function withEnvironment(options: FeatureFlagsServerOptions = {}): FeatureFlagsClientOptions {
  const { PENNON_SDK_KEY = "", PENNON_URL } = process.env;
  return {
    ...options,
    sdkKey: options.sdkKey ?? PENNON_SDK_KEY,
    baseUrl: options.baseUrl ?? PENNON_URL,
  };
}
