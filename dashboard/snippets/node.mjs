import { FeatureFlagsClient } from "@pennon/core";

const client = new FeatureFlagsClient({
  sdkKey: process.env.PENNON_SDK_KEY,
  baseUrl: "https://flags.example.com",
});
await client.initialize();

const flags = client.withContext({ userId: "ada", country: "GB" });
console.log(flags.isEnabled("new_checkout"));
