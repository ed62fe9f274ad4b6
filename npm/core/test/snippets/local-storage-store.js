import { FeatureFlagsClient, localStorageStore } from "@pennon/core";

export const client = new FeatureFlagsClient({
  sdkKey: "pnk_your_key",
  store: localStorageStore(),
});
