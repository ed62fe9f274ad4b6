import type { EvaluationContext, FlagReader } from "@pennon/core";
import { type FeatureFlagsServerOptions, sessionInRequest } from "./internal/request.js";
import { eventStream, eventsOf } from "./internal/stream.js";

export type { EvaluationContext, FlagReader, Snapshot } from "@pennon/core";
export type { FeatureFlagsServerOptions } from "./internal/request.js";

/**
 * The flags as they are for this subject, and in `snapshot()` what a page needs to begin with the same.
 *
 * The first call in a process makes the client, and waits for its flags, but not longer than one attempt may take. If the
 * service is down, reads return their fallbacks until it is back. What asks for flags is rendered at each request.
 */
export async function getFeatureFlags<Custom extends object>(
  context?: EvaluationContext<Custom> | null,
  options?: FeatureFlagsServerOptions,
): Promise<FlagReader> {
  const { client } = await sessionInRequest(options);
  return client.withContext(context);
}

/**
 * What a route handler answers to a page that follows the flags, whose provider has its path as `stream`: an endless
 * response with what the flags are for this subject, now and whenever that changes.
 */
export async function streamFeatureFlags<Custom extends object>(
  context?: EvaluationContext<Custom> | null,
  options?: FeatureFlagsServerOptions,
): Promise<Response> {
  const session = await sessionInRequest(options);
  return eventStream(eventsOf(session, context));
}
