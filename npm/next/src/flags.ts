import type { FeatureFlagsClient } from "@pennon/core";
import type { ProviderData } from "flags";
import {
  adapterOf,
  type PennonAdapter,
  type PennonAdapterOptions,
  providerDataOf,
} from "./internal/adapter.js";
import { sharedClientInRequest } from "./internal/request.js";

export type { EvaluationContext } from "@pennon/core";
export type { PennonAdapter, PennonAdapterOptions } from "./internal/adapter.js";

/**
 * Returns an adapter for the Flags SDK. It evaluates flags in memory, with the client that `getFeatureFlags` uses for
 * these options in this process.
 */
export function createPennonAdapter(options: PennonAdapterOptions = {}): PennonAdapter {
  return adapterOf(clientInRequest, options);
}

/** The adapter for the SDK key in `PENNON_SDK_KEY` and the Pennon server at `PENNON_URL`. */
export const pennonAdapter: PennonAdapter = createPennonAdapter();

/** Returns the data for the Flags Explorer: all flags of the environment, including those that no code declares. */
export async function getProviderData(options: PennonAdapterOptions = {}): Promise<ProviderData> {
  return providerDataOf(await clientInRequest(undefined, options), options);
}

async function clientInRequest(
  _context: unknown,
  options: PennonAdapterOptions,
): Promise<FeatureFlagsClient> {
  const { client } = await sharedClientInRequest(options);
  return client;
}
