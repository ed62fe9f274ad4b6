import { FeatureFlagsClient } from "@pennon/core";

const client = new FeatureFlagsClient({
  sdkKey: "pnk_your_key",
  baseUrl: "https://flags.example.com",
  mode: "remote", // the server evaluates
  context: { userId: "ada", country: "GB" },
});
await client.initialize();

const show = () => {
  document.title = client.isEnabled("new_checkout") ? "New checkout" : "Checkout";
};
client.subscribe(show);
show();
