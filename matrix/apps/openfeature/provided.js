/** A class that `answers` takes for that of a client: one whose questions go to a provider, by OpenFeature's SDK. */
export function provided(sdk, Provider, ask) {
  return class {
    constructor(options) {
      this.provider = new Provider(options);
    }

    initialize() {
      return sdk.OpenFeature.setProviderAndWait(this.provider);
    }

    async read(key, context) {
      // What is no attribute to us would be one of its own to OpenFeature.
      const { userId, tenantId, email, country, customAttributes } = context ?? {};
      const subject = { targetingKey: userId, tenantId, email, country, customAttributes };
      const details = await ask(sdk, key, subject);
      return details.errorCode === undefined
        ? { enabled: details.value, reason: details.flagMetadata.reason }
        : undefined;
    }

    evaluateRemote(key, context) {
      return this.provider.client.evaluateRemote(key, context);
    }

    shutdown() {
      return sdk.OpenFeature.clearProviders();
    }
  };
}

/** On a server the context goes along with the question. */
export async function onServer({ OpenFeature }, key, context) {
  return OpenFeature.getClient().getBooleanDetails(key, false, context);
}

/** In a page there is one context for all questions. */
export async function inPage({ OpenFeature }, key, context) {
  await OpenFeature.setContext(context);
  return OpenFeature.getClient().getBooleanDetails(key, false);
}
