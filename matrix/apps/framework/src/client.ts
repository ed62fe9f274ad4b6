import { FeatureFlagsClient } from "@pennon/core";

export const client = new FeatureFlagsClient({
  // Anyone can read the key in the bundle. Use an environment without secret flags.
  sdkKey: "pnk_your_key",
  baseUrl: "https://flags.example.com",
  // Changes arrive at once instead of with the next poll.
  streaming: true,
});

// While the service is down, the client keeps trying.
client.initialize({ retry: "background" }).catch(console.warn);
