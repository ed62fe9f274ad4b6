import type { Reason } from "../evaluation.js";

/** A flag in the response of `POST /sdk/v1/evaluate/all`. */
interface Answer {
  readonly key: string;
  readonly enabled: boolean;
  readonly reason: Reason;
  readonly ttlOverrideSeconds?: number | null;
}

/** The service's evaluations of all flags. */
export interface Answers {
  readonly answers: readonly Answer[];
  /** The number of entries that this version cannot read. */
  readonly skipped: number;
}

/** Reads a response of `POST /sdk/v1/evaluate/all`. Returns undefined if the body is not one. */
export function answersIn(body: string | Uint8Array): Answers | undefined {
  const entries = entriesIn(body);
  if (!Array.isArray(entries)) {
    return undefined;
  }
  const answers = entries.filter(isAnswer);
  return { answers, skipped: entries.length - answers.length };
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
