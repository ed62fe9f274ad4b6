import type { Reason } from "../evaluation.js";
import { type Reply, textOf } from "./exchange.js";
import { type ConfiguredFlags, storedFlags } from "./flags.js";
import type { KeyedContext } from "./keyed-context.js";

/** A flag in the response of `POST /sdk/v1/evaluate/all`. */
interface RemoteEvaluation {
  readonly key: string;
  readonly enabled: boolean;
  readonly reason: Reason;
  readonly ttlOverrideSeconds?: number | null;
}

/**
 * Reads a response of `POST /sdk/v1/evaluate/all`: the server's evaluations for this context, as flags. Returns
 * undefined if it has none.
 */
export function remoteFlags(reply: Reply, context: KeyedContext): ConfiguredFlags | undefined {
  const entries = reply.status === 200 ? entriesIn(reply) : undefined;
  if (!Array.isArray(entries)) {
    return undefined;
  }
  const evaluations = entries.filter(isRemoteEvaluation);
  const flags = evaluations.map((flag) => ({ ...flag, targeted: false }));
  const ttls = evaluations.map(({ ttlOverrideSeconds }) => ttlOverrideSeconds ?? 0);
  return {
    ...storedFlags(flags, context),
    ttlSeconds: () => ttls,
    unsupported: [],
    skipped: entries.length - evaluations.length,
  };
}

function entriesIn(reply: Reply): unknown {
  try {
    return JSON.parse(textOf(reply))?.flags;
  } catch {
    return undefined;
  }
}

function isRemoteEvaluation(entry: Partial<RemoteEvaluation> | null): entry is RemoteEvaluation {
  return (
    typeof entry?.key === "string" &&
    typeof entry.enabled === "boolean" &&
    typeof entry.reason === "string"
  );
}
