import { OpenFeature } from "@openfeature/server-sdk";
import { PennonServerProvider } from "@pennon/openfeature/server";

await OpenFeature.setProviderAndWait(
  new PennonServerProvider({
    sdkKey: process.env.PENNON_SDK_KEY ?? "",
    baseUrl: "http://127.0.0.1:3000",
  }),
);

const flags = OpenFeature.getClient();
const user = { targetingKey: "ada", country: "GB", plan: "pro" };
await flags.getBooleanValue("new_checkout", false, user); // true
await flags.getBooleanDetails("new_checkout", false, user); // { value: true, reason: "TARGETING_MATCH", … }
