import type { Reason } from "../evaluation.js";
import type { Reply } from "./exchange.js";
import { type ConfiguredFlags, storedFlags, storedValue } from "./flags.js";
import type { KeyedContext } from "./keyed-context.js";

/** A flag in the response of `POST /sdk/v1/evaluate/all`. */
interface Answer {
  readonly key: string;
  readonly enabled: boolean;
  readonly reason: Reason;
  readonly ttlOverrideSeconds?: number | null;
}

/**
 * Reads a response of `POST /sdk/v1/evaluate/all`: the service's evaluations for this context, as flags. Returns
 * undefined if it has none.
 */
export function remoteFlags(
  { status, body }: Reply,
  context: KeyedContext,
): ConfiguredFlags | undefined {
  const entries = status === 200 ? entriesIn(body) : undefined;
  if (!Array.isArray(entries)) {
    return undefined;
  }
  const answers = entries.filter(isAnswer);
  const flags = answers.map(({ key, enabled, reason }) => ({
    key,
    value: storedValue(enabled, reason, false),
  }));
  const ttls = answers.map(({ ttlOverrideSeconds }) => ttlOverrideSeconds ?? 0);
  return {
    ...storedFlags(flags, context),
    ttlSeconds: () => ttls,
    unsupported: [],
    skipped: entries.length - answers.length,
  };
}

function entriesIn(body: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body))?.flags;
  } catch {
    return undefined;
  }
}

function isAnswer(entry: Partial<Answer> | null): entry is Answer {
  return (
    typeof entry?.key === "string" &&
    typeof entry.enabled === "boolean" &&
    typeof entry.reason === "string"
  );
}
