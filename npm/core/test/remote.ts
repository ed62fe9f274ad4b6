import { FeatureFlagsClient, type FeatureFlagsClientOptions } from "@pennon/core";
import { onTestFinished } from "vitest";
import type { AnsweringService } from "./answering.ts";
import { optionsFor } from "./scripted.ts";

export const ada = { userId: "ada" };
export const bob = { userId: "bob" };

/** Returns a client of this service in remote mode, which shuts down at the end of the test. */
export function remote(
  service: AnsweringService,
  options: Partial<FeatureFlagsClientOptions> = {},
) {
  const client = new FeatureFlagsClient(
    optionsFor(service, { mode: "remote", context: ada, retries: 1, retryDelayMs: 1, ...options }),
  );
  onTestFinished(() => client.shutdown());
  return client;
}

/** Returns a client that has its first flags. */
export async function ready(
  service: AnsweringService,
  options: Partial<FeatureFlagsClientOptions> = {},
) {
  const client = remote(service, options);
  await client.initialize();
  return client;
}
