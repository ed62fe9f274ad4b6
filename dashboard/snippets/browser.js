import { FeatureFlagsClient } from "@pennon/core";

const client = new FeatureFlagsClient({
  sdkKey: "pnk_your_key",
  baseUrl: "https://flags.example.com",
  streaming: true, // changes arrive at once
});
await client.initialize();

const flags = client.withContext({ userId: "ada", country: "GB" });
const show = () => {
  document.title = flags.isEnabled("new_checkout") ? "New checkout" : "Checkout";
};
client.subscribe(show);
show();
