import { FeatureFlagsClient } from "@pennon/core";

const client = new FeatureFlagsClient({
  sdkKey: "pnp_your_key",
  mode: "remote",
  context: { userId: "ada", country: "GB" },
});
await client.initialize();
client.isEnabled("new_checkout"); // for ada

await client.setContext({ userId: "linus", country: "FI" });
client.isEnabled("new_checkout"); // for linus
