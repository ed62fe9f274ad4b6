import { FeatureFlagsClient } from "@pennon/core";

/** How long to wait before the service is asked again that could not be reached at the start. */
const PAUSE_MS = 5_000;

/** One client for the whole process. It answers from memory, so no request waits for the service. */
export const client = new FeatureFlagsClient({
  sdkKey: process.env.PENNON_SDK_KEY,
  baseUrl: process.env.PENNON_URL,
  // A change arrives at once, and not with the next poll.
  streaming: true,
});

client.on("change", ({ flags }) => console.log(`Changed: ${flags.join(", ")}`));
client.on("refresh:error", ({ error }) => console.warn(error.message));

/** Fetches the flags, and tries again for as long as the service is down. Until then, flags are off. */
export async function begin() {
  try {
    await client.initialize();
    console.log("The flags are there");
  } catch (error) {
    if (error.code === "INITIALIZATION_FAILED") {
      console.warn(error.message);
      setTimeout(begin, PAUSE_MS).unref();
    }
  }
}
