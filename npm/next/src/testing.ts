import type { EvaluationContext, FlagKey, FlagReader } from "@pennon/core";
import { type MockFlagsSource, mock, mockClient } from "./internal/mock.js";
import type { FeatureFlagsServerOptions } from "./internal/request.js";
import { eventOf, eventStream } from "./internal/stream.js";

export type { EvaluationContext, FlagReader, Snapshot } from "@pennon/core";
export type { MockFlags, MockFlagsSource } from "./internal/mock.js";
export type { FeatureFlagsServerOptions } from "./internal/request.js";

/**
 * Sets the flags of a test, until it is called again. A function returns the flags for the given context.
 *
 * Mock `@pennon/next/server` with this module:
 *
 * ```ts
 * vi.mock("@pennon/next/server", () => import("@pennon/next/testing"));
 * mockFeatureFlags({ new_checkout: true });
 * ```
 */
export function mockFeatureFlags(flags: MockFlagsSource = {}): void {
  mock(flags);
}

/**
 * Returns a reader of the mocked flags for this context. It is ready at once, without Pennon, and works outside of a
 * request.
 */
export async function getFeatureFlags<Custom extends object>(
  context?: EvaluationContext<Custom> | null,
  options: FeatureFlagsServerOptions = {},
): Promise<FlagReader<FlagKey>> {
  const client = await mockClient(context, options);
  return client.withContext(context);
}

/** Returns a stream that ends after one event, with the mocked flags for this context. */
export async function streamFeatureFlags<Custom extends object>(
  context?: EvaluationContext<Custom> | null,
  options?: FeatureFlagsServerOptions,
): Promise<Response> {
  const flags = await getFeatureFlags(context, options);
  return eventStream(eventOf(flags.snapshot()));
}
