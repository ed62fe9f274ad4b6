import { contextKey } from "../context-key.js";
import { BUILT_IN_ATTRIBUTES } from "../engine/protocol.js";
import type { EvaluationContext, Reason } from "../evaluation.js";
import type { Snapshot, SnapshotFlag } from "../snapshot.js";
import { type ConfiguredFlags, evaluationOf, type FlagValue, storedFlags } from "./flags.js";

/** The evaluations of all flags by the service, for one context. */
export interface Answers extends ConfiguredFlags {
  /** The TTL override of each flag in seconds, 0 for the default. */
  ttlSeconds(): readonly number[];
}

/** Reads a response of `POST /sdk/v1/evaluate/all`. Returns undefined if the body is not one. */
export function readAnswers(body: string | Uint8Array): Answers | undefined {
  let given: unknown;
  try {
    const text = typeof body === "string" ? body : new TextDecoder().decode(body);
    given = JSON.parse(text)?.flags;
  } catch {
    return undefined;
  }
  if (!Array.isArray(given) || !given.every(isAnswer)) {
    return undefined;
  }
  const ttls = given.map(({ ttlOverrideSeconds }) => ttlOverrideSeconds ?? 0);
  const flags = given.map(({ key, enabled, reason }) => ({
    key,
    value: fixedValue(enabled, reason),
  }));
  return { ...storedFlags(flags), ttlSeconds: () => ttls, unsupported: [], skipped: 0 };
}

interface Answer {
  readonly key: string;
  readonly enabled: boolean;
  readonly reason: Reason;
  readonly ttlOverrideSeconds?: number | null;
}

function isAnswer(given: unknown): given is Answer {
  const { key, enabled, reason, ttlOverrideSeconds } = Object(given);
  const ttl: unknown = ttlOverrideSeconds ?? 1;
  return (
    typeof key === "string" &&
    typeof enabled === "boolean" &&
    typeof reason === "string" &&
    Number.isInteger(ttl) &&
    (ttl as number) > 0
  );
}

/** Returns an evaluation that attributes of the reader's context cannot change. */
function fixedValue(enabled: boolean, reason: Reason): FlagValue {
  return {
    evaluation: evaluationOf(enabled, reason),
    targeted: false,
    index: -1,
    hasWarned: false,
  };
}

/** The contexts of a client in the mode `remote`. Each is identified by its `contextKey`. */
export class RemoteContext {
  /** The context of the served flags. */
  current: EvaluationContext;
  #currentKey: string | undefined;
  /** The context of the last request. */
  #requested: EvaluationContext;
  /** The context to request. */
  #wanted: EvaluationContext;

  constructor(context: EvaluationContext) {
    this.current = context;
    this.#currentKey = contextKey(context);
    this.#requested = context;
    this.#wanted = context;
  }

  /** Returns true if this is both the context of the served flags and the one to request. */
  isCurrent(context: EvaluationContext): boolean {
    return this.isServed(context) && contextKey(this.#wanted) === this.#currentKey;
  }

  /** Sets the context to request. */
  want(context: EvaluationContext): void {
    this.#wanted = context;
  }

  /** Returns the body of a request for the context to request. */
  request(): string {
    this.#requested = this.#wanted;
    return JSON.stringify({ context: plain(this.#requested) });
  }

  /** Records that the evaluations for the last request are served from now on, and returns the key of its context. */
  serveRequested(): string {
    return this.#serve(this.#requested);
  }

  /** Records that stored evaluations for the context to request are served, and returns the key of that context. */
  serveWanted(): string {
    return this.#serve(this.#wanted);
  }

  /** Returns true if the served flags are those for a context that a caller gives. */
  isServed(context: unknown): boolean {
    return context === undefined || context === null || contextKey(context) === this.#currentKey;
  }

  /** Returns the flags of a snapshot whose evaluations hold for the context of this client. */
  held({ flags, subject }: Snapshot): readonly SnapshotFlag[] {
    const isSame = subject !== undefined && this.isServed(subject.context);
    const answers = new Map(isSame ? subject.flags.map((flag) => [flag.key, flag]) : []);
    return flags.flatMap((flag) => {
      const answer = flag.targeted ? answers.get(flag.key) : flag;
      return answer === undefined ? [] : [{ ...answer, targeted: false }];
    });
  }

  #serve(context: EvaluationContext): string {
    this.current = context;
    this.#currentKey = contextKey(context);
    return this.#currentKey ?? "";
  }
}

/** Returns the attributes that rules can see, always in the same order. */
function plain(context: EvaluationContext): object {
  const [builtIn, custom] = JSON.parse(contextKey(context) ?? "[[],[]]");
  const named = BUILT_IN_ATTRIBUTES.map((name, index) => [name, builtIn[index] ?? undefined]);
  return { ...Object.fromEntries(named), customAttributes: Object.fromEntries(custom) };
}
