import { REASONS } from "../engine/protocol.js";
import type { Evaluation, Reason } from "../evaluation.js";
import { isPublicKey, type Settings } from "../internal/settings.js";

/** The maximum number of counts that the server accepts in one report. */
const MAX_COUNTS_PER_REPORT = 1_000;

/**
 * The maximum number of counts, each for one flag, reason and result, that are kept between reports. They are sent in
 * several reports if necessary.
 */
const MAX_COUNTS = 50_000;

/** The maximum number of unacknowledged reports. At this limit, counts are kept and not turned into reports. */
const MAX_REPORTS = 50;

/** The largest count that the server accepts. */
const MAX_COUNT = 1e9;

/**
 * The total length up to which reports are sent with `keepalive`, which lets them outlive a page. Browsers limit it to
 * 64 KiB.
 */
const MAX_KEEPALIVE_CHARACTERS = 60_000;

/** The reasons that the server counts. */
const COUNTED: readonly Reason[] = REASONS;

/** Sends a report, and resolves to the status of the response. */
type Send = (body: string, keepalive: boolean) => Promise<number>;

/** Counts evaluations by flag, reason and result, and reports them. */
export class Usage {
  readonly #settings: Settings;
  /** For each flag, the counts by reason and result: for each reason, first those that are off. */
  #counts = new Map<string, number[]>();
  #size = 0;
  #hasWarned = false;
  /** True once the server has refused reports. */
  #isOff = false;
  /**
   * The reports that the server has not acknowledged, each with its result while it is being sent. A retry sends the
   * same bytes: if the first attempt has arrived, the server recognizes the ID of the report and does not count it
   * twice.
   */
  readonly #reports = new Map<string, Promise<void> | undefined>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  readonly count = (key: string, { reason, enabled }: Evaluation): void => {
    const position = COUNTED.indexOf(reason);
    if (this.#isOff || position < 0) {
      return;
    }
    const index = 2 * position + Number(enabled);
    const counts = this.#counts.get(key) ?? COUNTED.flatMap(() => [0, 0]);
    const before = counts[index] ?? 0;
    if (before === 0 && this.#isFull()) {
      return;
    }
    this.#size += before === 0 ? 1 : 0;
    counts[index] = Math.min(before + 1, MAX_COUNT);
    this.#counts.set(key, counts);
  };

  /**
   * Reports the counts since the last call, in as many reports as necessary. Failed reports are sent first; new ones
   * follow only if that succeeds, so that reports do not pile up during an outage.
   */
  async report(send: Send): Promise<void> {
    if (this.#hasFailed()) {
      await this.#sendAll(send);
    }
    if (!this.#hasFailed()) {
      await this.reportAll(send);
    }
  }

  /** Sends all counts and failed reports at once, because this may be the last opportunity. */
  async reportAll(send: Send): Promise<void> {
    this.#close();
    await this.#sendAll(send);
  }

  #hasFailed(): boolean {
    return [...this.#reports.values()].includes(undefined);
  }

  /** Turns the counts into reports. */
  #close(): void {
    if (this.#reports.size >= MAX_REPORTS) {
      return;
    }
    // The server scales the counts of public keys, of which a page reports all or none.
    const scale = isPublicKey(this.#settings) && typeof document === "undefined" ? 10 : 1;
    const counts = [...this.#counts].flatMap(([flagKey, ofFlag]) =>
      ofFlag.flatMap((evaluations, index) => {
        // Rounded up as often as necessary for a correct average.
        const count = Math.floor((evaluations + Math.floor(Math.random() * scale)) / scale);
        const [reason, enabled] = [COUNTED[index >> 1], index % 2 === 1];
        return count > 0 ? [{ flagKey, reason, enabled, count }] : [];
      }),
    );
    this.#counts = new Map();
    this.#size = 0;
    for (let start = 0; start < counts.length; start += MAX_COUNTS_PER_REPORT) {
      const report = { id: randomId(), counts: counts.slice(start, start + MAX_COUNTS_PER_REPORT) };
      this.#reports.set(JSON.stringify(report), undefined);
    }
  }

  /** Sends all reports that are not being sent, and waits for the results of all. */
  async #sendAll(send: Send): Promise<void> {
    let characters = 0;
    for (const [body, outcome] of this.#reports) {
      characters += body.length;
      if (outcome === undefined) {
        this.#reports.set(body, this.#send(body, characters < MAX_KEEPALIVE_CHARACTERS, send));
      }
    }
    await Promise.all(this.#reports.values());
  }

  async #send(body: string, keepalive: boolean, send: Send): Promise<void> {
    const status = await send(body, keepalive).catch(() => 0);
    this.#isOff ||= status === 403 || status === 404;
    if (this.#isOff) {
      this.#counts.clear();
      this.#reports.clear();
    } else if (status === 0 || status === 429 || status >= 500) {
      this.#reports.set(body, undefined);
    } else {
      this.#reports.delete(body);
    }
  }

  #isFull(): boolean {
    const isFull = this.#size >= MAX_COUNTS;
    if (isFull && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#settings.logger.warn(
        `More than ${MAX_COUNTS} combinations of flag, reason and result were evaluated since the last report, ` +
          "so some evaluations are not counted",
      );
    }
    return isFull;
  }
}

/** Returns a random UUID. Works in pages without HTTPS, which lack `crypto.randomUUID`. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) % 16) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) % 64) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}
