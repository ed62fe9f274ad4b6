import { FeatureFlagsClient } from "@pennon/core";

export const client = new FeatureFlagsClient({
  // Anyone can read the key in the bundle. Use the key of a public environment.
  sdkKey: "pnp_your_key",
  baseUrl: "https://flags.example.com",
  // Changes arrive at once instead of with the next poll.
  streaming: true,
  // While Pennon is unreachable, flags keep their values.
  staleIfError: true,
});

// While Pennon is down, the client keeps trying.
client.initialize({ retry: "background" }).catch(console.warn);
