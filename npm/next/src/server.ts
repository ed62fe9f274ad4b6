import type { EvaluationContext, FlagKey, FlagReader } from "@pennon/core";
import { type FeatureFlagsServerOptions, sharedClientInRequest } from "./internal/request.js";
import { eventStream, eventsOf } from "./internal/stream.js";

export type { EvaluationContext, FlagReader, Snapshot } from "@pennon/core";
export type { FeatureFlagsServerOptions } from "./internal/request.js";

/**
 * Returns a reader for this context. Its `snapshot()` is the `bootstrap` of a page.
 *
 * The first call in a process creates the client and waits for its flags, for at most one attempt (`timeoutMs`). If
 * Pennon is down, reads return their fallbacks until it is back. A component that calls this is rendered at each
 * request.
 */
export async function getFeatureFlags<Custom extends object>(
  context?: EvaluationContext<Custom> | null,
  options?: FeatureFlagsServerOptions,
): Promise<FlagReader<FlagKey>> {
  const { client } = await sharedClientInRequest(options);
  return client.withContext(context);
}

/**
 * Returns the response of a route handler to a page that follows the flags: an endless stream of snapshots for this
 * context, the first at once and then one for each change. Pass the handler's path to the provider as `stream`.
 */
export async function streamFeatureFlags<Custom extends object>(
  context?: EvaluationContext<Custom> | null,
  options?: FeatureFlagsServerOptions,
): Promise<Response> {
  const shared = await sharedClientInRequest(options);
  return eventStream(eventsOf(shared, context));
}
