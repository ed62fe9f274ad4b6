import { getFeatureFlags, streamFeatureFlags } from "@pennon/next/server";
import { currentUser } from "./users.ts";

const options = {
  // A change arrives at once, and not with the next poll.
  streaming: true,
  // While the service is out of reach, flags stay as they were.
  staleIfError: true,
};

/** The flags as they are for whoever is signed in. */
export async function currentFlags() {
  return getFeatureFlags(await currentUser(), options);
}

/** For pages that are open: the same, whenever they change. */
export async function streamCurrentFlags() {
  return streamFeatureFlags(await currentUser(), options);
}
