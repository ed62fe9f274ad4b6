/** Returns a client class for `evaluateVectors` that reads flags from a provider through OpenFeature's SDK. */
export function provided(sdk, Provider, evaluate) {
  return class {
    constructor(options) {
      this.provider = new Provider(options);
    }

    initialize() {
      return sdk.OpenFeature.setProviderAndWait(this.provider);
    }

    async read(key, context) {
      // OpenFeature would turn members that are not attributes in Pennon into custom attributes.
      const { userId, tenantId, email, country, customAttributes } = context ?? {};
      const attributes = { targetingKey: userId, tenantId, email, country, customAttributes };
      const details = await evaluate(sdk, key, attributes);
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

/** Evaluates on a server, where each evaluation has its own context. */
export async function onServer({ OpenFeature }, key, context) {
  return OpenFeature.getClient().getBooleanDetails(key, false, context);
}

/** Evaluates in a page, where all evaluations share one context. */
export async function inPage({ OpenFeature }, key, context) {
  await OpenFeature.setContext(context);
  return OpenFeature.getClient().getBooleanDetails(key, false);
}
