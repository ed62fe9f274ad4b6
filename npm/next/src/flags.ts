import type { FeatureFlagsClient } from "@pennon/core";
import type { ProviderData } from "flags";
import {
  adapterOf,
  type PennonAdapter,
  type PennonAdapterOptions,
  providerDataOf,
} from "./internal/adapter.js";
import { sessionInRequest } from "./internal/request.js";

export type { EvaluationContext } from "@pennon/core";
export type { PennonAdapter, PennonAdapterOptions } from "./internal/adapter.js";

/** Evaluates by the client that `getFeatureFlags` has for these options: in memory, one for each process. */
export function createPennonAdapter(options: PennonAdapterOptions = {}): PennonAdapter {
  return adapterOf(clientInRequest, options);
}

/** The adapter for the key and the address that the environment names. */
export const pennonAdapter: PennonAdapter = createPennonAdapter();

/** What the Flags Explorer shows: all flags of the environment, those too that no code declares. */
export async function getProviderData(options: PennonAdapterOptions = {}): Promise<ProviderData> {
  return providerDataOf(await clientInRequest(undefined, options), options);
}

async function clientInRequest(
  _context: unknown,
  options: PennonAdapterOptions,
): Promise<FeatureFlagsClient> {
  const { client } = await sessionInRequest(options);
  return client;
}
