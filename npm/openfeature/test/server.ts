import type { EvaluationContext } from "@openfeature/core";
import { type Client, OpenFeature, ProviderEvents } from "@openfeature/server-sdk";
import { PennonServerProvider } from "@pennon/openfeature/server";
import {
  type Application,
  type Details,
  Events,
  FALLBACKS,
  type Given,
  type Kind,
} from "./application.ts";

/** An application of the server SDK, which passes a context with each evaluation. */
export async function server(given: Given): Promise<Application> {
  OpenFeature.setProvider(new PennonServerProvider(given));
  const events = listen();
  const client = OpenFeature.getClient();
  let subject: EvaluationContext = {};
  return {
    events,
    status: () => client.providerStatus,
    setContext: async (context) => {
      subject = context;
    },
    evaluate: (key, kind = "boolean") => resolve(client, key, kind, subject),
    process: (action) => action(),
    track: (event) => client.track(event),
    addHook: (hook) => void OpenFeature.addHooks(hook),
    close: async () => {
      await forget();
    },
  };
}

/** Collects the events that OpenFeature emits for the current provider. */
export function listen(): Events {
  const events = new Events();
  for (const type of Object.values(ProviderEvents)) {
    OpenFeature.addHandler(type, events.handler(type.replace("PROVIDER_", "")));
  }
  return events;
}

/** Closes the provider, and resets OpenFeature for the next application. */
export async function forget(): Promise<void> {
  OpenFeature.clearHandlers();
  OpenFeature.clearHooks();
  await OpenFeature.clearProviders();
}

export async function resolve(
  client: Client,
  key: string,
  kind: Kind,
  subject?: EvaluationContext,
): Promise<Details> {
  switch (kind) {
    case "string":
      return client.getStringDetails(key, FALLBACKS.string, subject);
    case "number":
      return client.getNumberDetails(key, FALLBACKS.number, subject);
    case "object":
      return client.getObjectDetails(key, FALLBACKS.object, subject);
    default:
      return client.getBooleanDetails(key, FALLBACKS[kind], subject);
  }
}
