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

/** An adapter that evaluates by the flags of `mockFeatureFlags`. */
export function createPennonAdapter(options: PennonAdapterOptions = {}): PennonAdapter {
  return adapterOf(mockClient, options);
}

/** The same without options. */
export const pennonAdapter: PennonAdapter = createPennonAdapter();

/** The flags of `mockFeatureFlags`, as the Flags Explorer shows them. */
export async function getProviderData(options: PennonAdapterOptions = {}): Promise<ProviderData> {
  return providerDataOf(await mockClient(undefined, options), options);
}
