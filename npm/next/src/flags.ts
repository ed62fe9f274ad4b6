import type { AttributeValue, EvaluationContext } from "@pennon/core";
import type { Adapter, ProviderData } from "flags";
import { sessionInRequest } from "./internal/request.js";
import { type FeatureFlagsServerOptions, getFeatureFlags } from "./server.js";

export type { EvaluationContext } from "@pennon/core";

/** What `getFeatureFlags` takes, and where people find the dashboard. */
export interface PennonAdapterOptions extends FeatureFlagsServerOptions {
  /** Where the dashboard is for a browser, if that is another address than `baseUrl` or `PENNON_URL`. */
  readonly dashboardUrl?: string | undefined;
}

/** What `flag()` of the package `flags` takes as `adapter`. Its entities are the contexts of Pennon. */
export type PennonAdapter = <
  Custom extends object = Readonly<Record<string, AttributeValue>>,
>() => Adapter<boolean, EvaluationContext<Custom>>;

/** Evaluates by the client that `getFeatureFlags` has for these options: in memory, one for each process. */
export function createPennonAdapter(options: PennonAdapterOptions = {}): PennonAdapter {
  // What has the same of it is evaluated together.
  const adapterId = Symbol("pennon");
  return () => ({
    adapterId,
    origin: (key) => originOf(key, options),
    async decide({ key, entities, defaultValue }) {
      const reader = await getFeatureFlags(entities, options);
      return reader.isEnabled(key, defaultValue === true);
    },
    async bulkDecide({ flags, entities }) {
      const reader = await getFeatureFlags(entities, options);
      return Object.fromEntries(
        flags.map(({ key, defaultValue }) => [key, reader.isEnabled(key, defaultValue === true)]),
      );
    },
  });
}

/** The adapter for the key and the address that the environment names. */
export const pennonAdapter: PennonAdapter = createPennonAdapter();

/** What the Flags Explorer shows: all flags of the environment, those too that no code declares. */
export async function getProviderData(options: PennonAdapterOptions = {}): Promise<ProviderData> {
  const { client } = await sessionInRequest(options);
  const definitions: ProviderData["definitions"] = {};
  for (const key of Object.keys(client.evaluateAll())) {
    const origin = originOf(key, options);
    definitions[key] = { options: STATES, ...(origin !== undefined && { origin }) };
  }
  const hints = client.isReady() ? [] : [{ key: "pennon/no-flags", text: NO_FLAGS }];
  return { definitions, hints };
}

const STATES = [
  { value: false, label: "Off" },
  { value: true, label: "On" },
];

const NO_FLAGS =
  "There are no flags yet: is Pennon running at PENNON_URL, and is PENNON_SDK_KEY the key of an environment?";

/** The flag in the dashboard, which the service serves itself. */
function originOf(
  key: string,
  { dashboardUrl, baseUrl = process.env.PENNON_URL }: PennonAdapterOptions,
): string | undefined {
  const base = dashboardUrl ?? baseUrl;
  return base && `${base.replace(/\/+$/, "")}/dashboard/flags?q=${encodeURIComponent(key)}`;
}
