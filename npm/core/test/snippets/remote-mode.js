import { FeatureFlagsClient } from "@pennon/core";

const client = new FeatureFlagsClient({
  sdkKey: process.env.PENNON_SDK_KEY, // pnp_…
  baseUrl: "http://127.0.0.1:3000",
  mode: "remote",
  context: { userId: "ada", country: "GB" },
});

await client.initialize();
client.isEnabled("new_checkout"); // for ada

await client.setContext({ userId: "linus", country: "FI" });
client.isEnabled("new_checkout"); // for linus
