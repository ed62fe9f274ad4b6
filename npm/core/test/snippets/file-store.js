import { FeatureFlagsClient } from "@pennon/core";
import { fileStore } from "@pennon/core/file-store";

export const client = new FeatureFlagsClient({
  sdkKey: process.env.PENNON_SDK_KEY,
  store: fileStore("/var/lib/shop/flags.json", { maxAgeSeconds: 3600 }),
});
