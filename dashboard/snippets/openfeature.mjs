import { OpenFeature } from "@openfeature/server-sdk";
import { PennonServerProvider } from "@pennon/openfeature/server";

await OpenFeature.setProviderAndWait(
  new PennonServerProvider({
    sdkKey: process.env.PENNON_SDK_KEY ?? "",
    baseUrl: "https://flags.example.com",
  }),
);

const flags = OpenFeature.getClient();
const user = { targetingKey: "ada", country: "GB" };
console.log(await flags.getBooleanValue("new_checkout", false, user));
