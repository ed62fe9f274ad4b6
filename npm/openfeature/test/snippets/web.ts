import { OpenFeature } from "@openfeature/web-sdk";
import { PennonWebProvider } from "@pennon/openfeature/web";

const provider = new PennonWebProvider({
  sdkKey: "pnp_your_key",
  baseUrl: "http://127.0.0.1:3000",
});
await OpenFeature.setProviderAndWait(provider, { targetingKey: "ada", country: "GB" });

const flags = OpenFeature.getClient();
flags.getBooleanValue("new_checkout", false); // true
await OpenFeature.setContext({ targetingKey: "linus", country: "FI" }); // without a request
flags.getBooleanValue("new_checkout", false); // false
