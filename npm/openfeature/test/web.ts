import { OpenFeature, ProviderEvents } from "@openfeature/web-sdk";
import { PennonWebProvider } from "@pennon/openfeature/web";
import {
  type Application,
  type Details,
  Events,
  FALLBACKS,
  type Given,
  type Kind,
} from "./application.ts";

/** An application of the web SDK, which has one context until it sets another. */
export async function web(given: Given): Promise<Application> {
  OpenFeature.setProvider(new PennonWebProvider(given));
  const events = new Events();
  for (const type of [
    ProviderEvents.Ready,
    ProviderEvents.Stale,
    ProviderEvents.Error,
    ProviderEvents.ConfigurationChanged,
  ]) {
    OpenFeature.addHandler(type, events.handler(type.replace("PROVIDER_", "")));
  }
  const client = OpenFeature.getClient();
  return {
    events,
    status: () => client.providerStatus,
    setContext: (context) => OpenFeature.setContext(context),
    evaluate: async (key, kind = "boolean") => resolve(key, kind),
    process: (action) => action(),
    track: (event) => client.track(event),
    addHook: (hook) => void OpenFeature.addHooks(hook),
    close: async () => {
      OpenFeature.clearHandlers();
      OpenFeature.clearHooks();
      await OpenFeature.clearProviders();
      await OpenFeature.setContext({});
    },
  };
}

function resolve(key: string, kind: Kind): Details {
  const client = OpenFeature.getClient();
  switch (kind) {
    case "string":
      return client.getStringDetails(key, FALLBACKS.string);
    case "number":
      return client.getNumberDetails(key, FALLBACKS.number);
    case "object":
      return client.getObjectDetails(key, FALLBACKS.object);
    default:
      return client.getBooleanDetails(key, FALLBACKS[kind]);
  }
}
