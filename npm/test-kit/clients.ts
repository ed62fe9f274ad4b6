import { FeatureFlagsClient, type FeatureFlagsClientOptions, type Transport } from "@pennon/core";
import { onTestFinished } from "vitest";
import { optionsFor } from "./scripted.ts";

type Options = Partial<FeatureFlagsClientOptions>;

/** Returns a client of this server, which is shut down when the test ends. */
export function clientFor(server: Transport, options: Options = {}): FeatureFlagsClient {
  const client = new FeatureFlagsClient(optionsFor(server, options));
  onTestFinished(() => client.shutdown());
  return client;
}

/** Returns a client of this server that has its first flags, and is shut down when the test ends. */
export async function readyClient(
  server: Transport,
  options: Options = {},
): Promise<FeatureFlagsClient> {
  const client = clientFor(server, options);
  await client.initialize();
  return client;
}

export const ada = { userId: "ada" };
export const bob = { userId: "bob" };

const REMOTE = { mode: "remote", context: ada, retries: 1, retryDelayMs: 1 } as const;

/** Returns a client in remote mode, whose context is Ada. It is shut down when the test ends. */
export function remoteClient(server: Transport, options: Options = {}): FeatureFlagsClient {
  return clientFor(server, { ...REMOTE, ...options });
}

/** Returns such a client that has its first evaluations. */
export function readyRemoteClient(
  server: Transport,
  options: Options = {},
): Promise<FeatureFlagsClient> {
  return readyClient(server, { ...REMOTE, ...options });
}
