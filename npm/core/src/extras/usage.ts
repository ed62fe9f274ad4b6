import type { Evaluation, Reason } from "../evaluation.js";

/** The service takes no more counts at once. */
const MOST_COUNTS = 1_000;

/** A browser sends no more than 64 KiB for a page that goes away. */
const MOST_CHARACTERS = 60_000;

const REASONS: readonly Reason[] = [
  "flag_enabled",
  "flag_disabled",
  "flag_archived",
  "targeting_rule",
  "rollout",
];

/** Counts evaluations by flag and reason. There is a bound: what does not fit is not counted. */
export class Usage {
  /** For each flag, the counts by reason. */
  #counts = new Map<string, number[]>();
  #size = 0;

  readonly count = (key: string, { reason }: Evaluation): void => {
    this.#add(key, REASONS.indexOf(reason), 1);
  };

  /** Reports what has been counted since the last time. If that fails, it is reported the next time. */
  async report(send: (body: string, keepalive: boolean) => Promise<number>): Promise<void> {
    if (this.#size === 0) {
      return;
    }
    const counts = this.#counts;
    this.#counts = new Map();
    this.#size = 0;
    const body = toBody(counts);
    const status = await send(body, body.length < MOST_CHARACTERS).catch(() => 0);
    if (status === 0 || status === 429 || status >= 500) {
      for (const [key, byReason] of counts) {
        byReason.forEach((count, reason) => {
          this.#add(key, reason, count);
        });
      }
    }
  }

  #add(key: string, reason: number, count: number): void {
    const byReason = this.#counts.get(key);
    const before = byReason?.[reason] ?? 0;
    if (reason < 0 || count === 0 || (before === 0 && this.#size === MOST_COUNTS)) {
      return;
    }
    this.#size += before === 0 ? 1 : 0;
    if (byReason === undefined) {
      const first = REASONS.map(() => 0);
      first[reason] = count;
      this.#counts.set(key, first);
    } else {
      byReason[reason] = before + count;
    }
  }
}

function toBody(counts: ReadonlyMap<string, readonly number[]>): string {
  const items = [...counts].flatMap(([flagKey, byReason]) =>
    byReason.flatMap((count, reason) =>
      count > 0 ? [{ flagKey, reason: REASONS[reason], count: Math.min(count, 1e9) }] : [],
    ),
  );
  return JSON.stringify({ counts: items });
}
