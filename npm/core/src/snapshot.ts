import type { EvaluationContext, Reason } from "./evaluation.js";

/** The body of `GET /sdk/v1/config`. What a flag looks like there is the service's and the engine's affair. */
export interface Configuration {
  readonly flags: readonly object[];
}

/**
 * What a client knows, as plain JSON: taken by the option `bootstrap`. There are two kinds.
 *
 * `client.snapshot()` makes one with `config`, the whole configuration, rules included: for other servers.
 * `client.withContext(context).snapshot()` makes one with `subject`, the answers for one subject and no rules: for the
 * browser of that subject.
 */
export interface Snapshot {
  readonly version: 1;
  /** Every flag as it is for nobody in particular. */
  readonly flags: readonly SnapshotFlag[];
  readonly config?: Configuration;
  /** The `ETag` of `config`. */
  readonly etag?: string;
  readonly subject?: {
    readonly context: EvaluationContext;
    /** The flags that have rules or a rollout, as they are for this subject. */
    readonly flags: readonly SubjectFlag[];
  };
}

export interface SnapshotFlag extends SubjectFlag {
  /** Whether it has rules or a rollout, so that a subject's attributes could matter. */
  readonly targeted: boolean;
}

export interface SubjectFlag {
  readonly key: string;
  readonly enabled: boolean;
  readonly reason: Reason;
}
