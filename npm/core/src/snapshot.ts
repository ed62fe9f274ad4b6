import type { EvaluationContext, Reason } from "./evaluation.js";

/** The body of `GET /sdk/v1/config`. The members of its flags are known only to the server and the engine. */
export interface Configuration {
  readonly flags: readonly object[];
}

/**
 * The flags of a client as plain JSON, for the option `bootstrap` of another client. It is one of two kinds:
 *
 * - `client.snapshot()` returns the whole configuration, including rules, in `config`: for other servers.
 * - `client.withContext(context).snapshot()` returns the evaluations for one context, without rules, in `subject`: for
 *   a browser.
 */
export interface Snapshot {
  readonly version: 1;
  /** All flags, evaluated without a context; those of a client with `mode: "remote"`, for the context of `subject`. */
  readonly flags: readonly SnapshotFlag[];
  readonly config?: Configuration;
  /** The `ETag` of `config`. */
  readonly etag?: string;
  readonly subject?: {
    readonly context: EvaluationContext;
    /** The flags with rules or a rollout, evaluated for this context. */
    readonly flags: readonly SubjectFlag[];
  };
}

export interface SnapshotFlag extends SubjectFlag {
  /** True if the flag has rules or a rollout, so that attributes can change its evaluation. */
  readonly targeted: boolean;
}

export interface SubjectFlag {
  readonly key: string;
  readonly enabled: boolean;
  readonly reason: Reason;
}
