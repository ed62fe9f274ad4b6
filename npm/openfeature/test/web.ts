import { OpenFeature, ProviderEvents } from "@openfeature/web-sdk";
import { PennonWebProvider } from "@pennon/openfeature/web";
import {
  type Application,
  type Details,
  Events,
  type Given,
  type Kind,
  OTHERWISE,
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
    isFor: (context) => OpenFeature.setContext(context),
    asks: async (key, kind = "boolean") => ask(key, kind),
    sees: (happening) => happening(),
    tracks: (event) => client.track(event),
    hasHook: (hook) => void OpenFeature.addHooks(hook),
    close: async () => {
      OpenFeature.clearHandlers();
      OpenFeature.clearHooks();
      await OpenFeature.clearProviders();
      await OpenFeature.setContext({});
    },
  };
}

function ask(key: string, kind: Kind): Details {
  const client = OpenFeature.getClient();
  switch (kind) {
    case "string":
      return client.getStringDetails(key, OTHERWISE.string);
    case "number":
      return client.getNumberDetails(key, OTHERWISE.number);
    case "object":
      return client.getObjectDetails(key, OTHERWISE.object);
    default:
      return client.getBooleanDetails(key, OTHERWISE[kind]);
  }
}
