import { FeatureFlagsClient } from "@pennon/core";

const client = new FeatureFlagsClient({
  sdkKey: process.env.PENNON_SDK_KEY,
  baseUrl: "http://127.0.0.1:3000",
});

await client.initialize();

// Without a context: is the flag on in this environment?
client.isEnabled("new_checkout"); // true

// For one user, with rules and rollouts:
client.evaluate("new_checkout", {
  userId: "ada",
  country: "GB",
  customAttributes: { plan: "pro", seats: 12 },
}); // { enabled: true, reason: "targeting_rule" }

// For one user many times, for example during a request. These reads never throw:
const flags = client.withContext({ userId: "ada", country: "GB" });
flags.isEnabled("new_checkout"); // true
flags.isEnabled("no_such_flag"); // false
