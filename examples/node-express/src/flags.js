import { consoleLogger, FeatureFlagsClient } from "@pennon/core";

/** The client of this process. It evaluates in memory, so requests never wait for Pennon. */
export const client = new FeatureFlagsClient({
  sdkKey: process.env.PENNON_SDK_KEY,
  baseUrl: process.env.PENNON_URL,
  // Changes arrive at once instead of with the next poll.
  streaming: true,
  // While Pennon is unreachable, flags keep their values.
  staleIfError: true,
  // By default the client logs nothing, not even warnings of likely mistakes.
  logger: consoleLogger,
});

client.once("ready", () => console.log("Flags loaded"));
client.on("change", ({ flags }) => console.log(`Flags changed: ${flags.join(", ")}`));

/** Fetches the flags. If Pennon does not answer in time, all flags are off and the client keeps trying. */
export async function loadFlags() {
  try {
    await client.initialize({ timeoutMs: 2_000, retry: "background" });
  } catch (error) {
    console.warn(error.message);
  }
}
