import type { AttributeValue, EvaluationContext, FeatureFlagsClient } from "@pennon/core";
import type { Adapter, ProviderData } from "flags";
import type { FeatureFlagsServerOptions } from "./request.js";

/** The options of `getFeatureFlags`, and the address of the dashboard. */
export interface PennonAdapterOptions extends FeatureFlagsServerOptions {
  /** The address of the dashboard for a browser, if it differs from `baseUrl` or `PENNON_URL`. */
  readonly dashboardUrl?: string | undefined;
}

/** The `adapter` for `flag()` of the package `flags`. Its entities are Pennon contexts. */
export type PennonAdapter = <
  Custom extends object = Readonly<Record<string, AttributeValue>>,
>() => Adapter<boolean, EvaluationContext<Custom>>;

/** Returns the client that evaluates for a context. */
export type FindClient = (
  context: EvaluationContext<object> | null | undefined,
  options: FeatureFlagsServerOptions,
) => Promise<FeatureFlagsClient>;

/** Returns an adapter that evaluates with the clients of `findClient`. */
export function adapterOf(findClient: FindClient, options: PennonAdapterOptions): PennonAdapter {
  // The Flags SDK evaluates the flags of one adapter and one context together.
  const adapterId = Symbol("pennon");
  const readerFor = async (context: EvaluationContext<object> | null | undefined) =>
    (await findClient(context, options)).withContext(context);
  return () => ({
    adapterId,
    origin: (key) => originOf(key, options),
    async decide({ key, entities, defaultValue }) {
      const reader = await readerFor(entities);
      return reader.isEnabled(key, defaultValue === true);
    },
    async bulkDecide({ flags, entities }) {
      const reader = await readerFor(entities);
      return Object.fromEntries(
        flags.map(({ key, defaultValue }) => [key, reader.isEnabled(key, defaultValue === true)]),
      );
    },
  });
}

/** Returns the flags of a client for the Flags Explorer. */
export function providerDataOf(
  client: FeatureFlagsClient,
  options: PennonAdapterOptions,
): ProviderData {
  const definitionOf = (key: string) => {
    const origin = originOf(key, options);
    return { options: STATES, ...(origin !== undefined && { origin }) };
  };
  // Unlike assignment, `fromEntries` also creates members with names such as `__proto__`.
  const definitions = Object.fromEntries(
    Object.keys(client.evaluateAll()).map((key) => [key, definitionOf(key)]),
  );
  const hints = client.isReady() ? [] : [{ key: "pennon/no-flags", text: NO_FLAGS }];
  return { definitions, hints };
}

const STATES = [
  { value: false, label: "Off" },
  { value: true, label: "On" },
];

const NO_FLAGS =
  "No flags have been fetched yet. Check that Pennon is running at PENNON_URL, and that PENNON_SDK_KEY is the SDK key of an environment.";

/** Returns the address of the flag in the dashboard, which Pennon hosts. */
function originOf(
  key: string,
  { dashboardUrl, baseUrl = process.env.PENNON_URL }: PennonAdapterOptions,
): string | undefined {
  const base = dashboardUrl ?? baseUrl;
  return base && `${base.replace(/\/+$/, "")}/dashboard/flags?q=${encodeURIComponent(key)}`;
}
