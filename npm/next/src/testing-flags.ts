import type { ProviderData } from "flags";
import {
  adapterOf,
  type PennonAdapter,
  type PennonAdapterOptions,
  providerDataOf,
} from "./internal/adapter.js";
import { mockClient } from "./internal/mock.js";

export type { EvaluationContext } from "@pennon/core";
export type { PennonAdapter, PennonAdapterOptions } from "./internal/adapter.js";

/** Returns an adapter that evaluates with the flags of `mockFeatureFlags`. */
export function createPennonAdapter(options: PennonAdapterOptions = {}): PennonAdapter {
  return adapterOf(mockClient, options);
}

/** The adapter without options. */
export const pennonAdapter: PennonAdapter = createPennonAdapter();

/** Returns the flags of `mockFeatureFlags` as data for the Flags Explorer. */
export async function getProviderData(options: PennonAdapterOptions = {}): Promise<ProviderData> {
  return providerDataOf(await mockClient(undefined, options), options);
}
