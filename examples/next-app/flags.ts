import { getFeatureFlags, streamFeatureFlags } from "@pennon/next/server";
import { currentUser } from "@/users";

const options = {
  // Changes arrive at once instead of with the next poll.
  streaming: true,
  // While Pennon is unreachable, flags keep their values.
  staleIfError: true,
};

/** Returns the flags, evaluated for the signed-in user. */
export async function currentFlags() {
  return getFeatureFlags(await currentUser(), options);
}

/** Streams the same flags to open pages, whenever they change. */
export async function streamCurrentFlags() {
  return streamFeatureFlags(await currentUser(), options);
}
