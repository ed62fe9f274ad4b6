import { FeatureFlagsClient, localStorageStore } from "@pennon/core";

export const client = new FeatureFlagsClient({
  sdkKey: "pnp_your_key",
  store: localStorageStore(),
});
