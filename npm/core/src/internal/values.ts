import { type Cache, type CachedFlag, INDEX_KEY } from "../cache.js";
import type { Evaluation } from "../evaluation.js";
import type { Logger } from "../logger.js";
import { contain } from "./contain.js";

/** What a flag is for nobody in particular. */
export interface FlagValue {
  readonly evaluation: Evaluation;
  /** Whether it has rules or a rollout, so that a subject's attributes could matter. */
  readonly targeted: boolean;
  /** Its position in the engine's configuration; -1 if that does not have it. */
  readonly index: number;
}

/** All flags of a configuration, each known by its position. */
export interface Flags {
  readonly keys: readonly string[];
  readonly values: readonly FlagValue[];
  /** The time to live of each flag in seconds, 0 for the default; asked for only where a cache must know. */
  ttlSeconds(): ArrayLike<number>;
}

/** The flags being served: in memory, and written through to the caller's own cache if there is one. */
export class Values {
  readonly #defaultTtlMs: number;
  readonly #cache: Cache | undefined;
  readonly #onError: (error: unknown) => void;
  #served = new Map<string, FlagValue>();
  #keys: readonly string[] = [];

  constructor(defaultTtlMs: number, cache: Cache | undefined, logger: Logger) {
    this.#defaultTtlMs = defaultTtlMs;
    this.#onError = (error) => logger.error("The cache failed", error);
    this.#cache = cache && watched(cache, this.#onError);
  }

  get(key: string): FlagValue | undefined {
    return this.#served.get(key);
  }

  /** Serves these flags, and those only. */
  replace(flags: Flags): void {
    const served = new Map<string, FlagValue>();
    flags.keys.forEach((key, position) => {
      const value = flags.values[position];
      if (value !== undefined) {
        served.set(key, value);
      }
    });
    const before = this.#keys;
    this.#served = served;
    this.#keys = flags.keys;
    this.#write((cache) => {
      for (const key of before.filter((key) => !served.has(key))) {
        cache.delete(key);
      }
      const ttls = flags.ttlSeconds();
      for (const [key, { evaluation, targeted, index }] of served) {
        const ttlMs = (ttls[index] ?? 0) * 1_000 || this.#defaultTtlMs;
        cache.set(key, { ...evaluation, targeted, ttlMs });
      }
    });
    this.renew();
  }

  /** Notes that everything has just been confirmed. */
  renew(): void {
    this.#write((cache) => {
      cache.set(INDEX_KEY, { keys: [...this.#served.keys()], confirmedAt: Date.now() });
    });
  }

  /** Serves the flags at these positions no longer. */
  expire(positions: Iterable<number>): void {
    for (const position of positions) {
      const key = this.#keys[position] ?? "";
      this.#served.delete(key);
      this.#write((cache) => cache.delete(key));
    }
  }

  /** Serves nothing any longer. */
  clear(): void {
    this.#served = new Map();
    this.#keys = [];
    this.#write((cache) => cache.clear());
  }

  /** Serves what the caller's cache holds and may still be served, and gives the milliseconds that are left for each. */
  restore(): readonly number[] {
    const cache = this.#cache;
    const found = cache && contain(() => unexpired(cache), this.#onError);
    this.#keys = found?.map(({ key }) => key) ?? [];
    this.#served = new Map(found?.map(({ key, value }) => [key, value]));
    return found?.map(({ left }) => left) ?? [];
  }

  /** Goes on serving what is served, for as long as usual. */
  keep(): readonly number[] {
    return this.#keys.map(() => this.#defaultTtlMs);
  }

  #write(write: (cache: Cache) => void): void {
    const cache = this.#cache;
    if (cache !== undefined) {
      contain(() => write(cache), this.#onError);
    }
  }
}

/** The cache, with `onError` for promises that its methods should not bring. What they throw goes to their caller. */
function watched(cache: Cache, onError: (error: unknown) => void): Cache {
  const watch = <T>(result: T): T => {
    if (result instanceof Promise) {
      result.catch(onError);
    }
    return result;
  };
  return {
    get: (key) => watch(cache.get(key)),
    set: (key, entry) => watch(cache.set(key, entry)),
    delete: (key) => watch(cache.delete(key)),
    clear: () => watch(cache.clear()),
  };
}

interface Found {
  readonly key: string;
  readonly value: FlagValue;
  readonly left: number;
}

function unexpired(cache: Cache): Found[] {
  const index = cache.get(INDEX_KEY);
  if (
    !index ||
    !("keys" in index) ||
    !Array.isArray(index.keys) ||
    !Number.isFinite(index.confirmedAt)
  ) {
    return [];
  }
  const age = Math.max(0, Date.now() - index.confirmedAt);
  return index.keys.flatMap((key) => {
    const cached = cache.get(key);
    if (!isFlag(cached) || !(cached.ttlMs - age >= 1)) {
      return [];
    }
    const { enabled, reason, targeted, ttlMs } = cached;
    return [
      { key, value: { evaluation: { enabled, reason }, targeted, index: -1 }, left: ttlMs - age },
    ];
  });
}

/** What a cache holds may have been stored by anybody. */
function isFlag(entry: unknown): entry is CachedFlag {
  const flag = (entry ?? {}) as Partial<Record<keyof CachedFlag, unknown>>;
  return (
    typeof flag.enabled === "boolean" &&
    typeof flag.reason === "string" &&
    typeof flag.targeted === "boolean" &&
    typeof flag.ttlMs === "number"
  );
}
