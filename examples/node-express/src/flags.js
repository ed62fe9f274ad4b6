import { FeatureFlagsClient } from "@pennon/core";

/** One client for the whole process. It answers from memory, so no request waits for the service. */
export const client = new FeatureFlagsClient({
  sdkKey: process.env.PENNON_SDK_KEY,
  baseUrl: process.env.PENNON_URL,
  // A change arrives at once, and not with the next poll.
  streaming: true,
});

client.once("ready", () => console.log("The flags are there"));
client.on("change", ({ flags }) => console.log(`Changed: ${flags.join(", ")}`));
client.on("refresh:error", ({ error }) => console.warn(error.message));

/** Fetches the flags. If the service does not answer soon, the client goes on trying. Until then, flags are off. */
export async function begin() {
  try {
    await client.initialize({ timeoutMs: 2_000, retry: "background" });
  } catch (error) {
    console.warn(error.message);
  }
}
