import { type Cache, type CachedFlag, type CacheIndex, INDEX_KEY } from "../cache.js";
import type { SnapshotFlag } from "../snapshot.js";
import { callSafely, catchRejection } from "./call-safely.js";
import { type ConfiguredFlags, type Flags, type FlagValue, storedFlags } from "./flags.js";
import type { KeyedContext } from "./keyed-context.js";
import type { Settings } from "./settings.js";
import { sourceOf } from "./source.js";

/**
 * The maximum number of unknown keys to remember. It exceeds the number of keys in the code of an application, and
 * bounds the memory if keys come from users.
 */
const MAX_MISSING_KEYS = 1_000;

const NO_FLAGS: Flags = storedFlags([]);

/** The served flags: in memory, and written through to the caller's cache, if any. */
export class FlagStore {
  readonly #defaultTtlMs: number;
  readonly #cache: Cache | undefined;
  readonly #source: string;
  readonly #onError: (error: unknown) => void;
  #flags = NO_FLAGS;
  /** The flags that have been read. */
  #known = new Map<string, FlagValue>();
  /** Keys that have been read and do not exist. */
  readonly #missing = new Set<string>();
  /** The positions of expired flags. */
  #expired = new Set<number>();
  /** True if the flags come from a configuration of the current engine rather than a cache or a snapshot. */
  #configured = false;
  #revision = 0;
  /** The `confirmedAt` of the index in the cache that leads to all current flags; undefined if a write has failed. */
  #cachedAt: number | undefined;
  /** The time at which the flags were confirmed, on the clock of `performance.now()`; undefined before that. */
  confirmedAt: number | undefined;

  constructor({ ttlMs, cache, logger, sdkKey, baseUrl }: Settings) {
    this.#defaultTtlMs = ttlMs;
    this.#source = sourceOf(sdkKey, baseUrl);
    this.#onError = (error) => {
      this.#cachedAt = undefined;
      logger.error("The cache failed, so its content may be outdated", error);
    };
    this.#cache = cache && watched(cache, this.#onError);
  }

  get(key: string): FlagValue | undefined {
    return this.#known.get(key) ?? this.#find(key);
  }

  *entries(): Iterable<readonly [key: string, value: FlagValue, position: number]> {
    for (let position = 0; position < this.#flags.size; position += 1) {
      if (!this.#expired.has(position)) {
        yield [this.#flags.key(position), this.#flags.value(position), position];
      }
    }
  }

  /** In remote mode, the context of the flags; undefined if there are none. */
  get context(): KeyedContext | undefined {
    return this.#flags.context;
  }

  /** A number that changes whenever the results of reads may have changed. */
  get revision(): number {
    return this.#revision;
  }

  /** Replaces the served flags, and returns the keys of the changed ones; empty if no flags were served before. */
  replace(flags: ConfiguredFlags): readonly string[] {
    const [changes, before] = this.#configure(flags);
    this.#cachedAt = undefined;
    this.renew(before);
    return changes;
  }

  /**
   * Replaces the served flags by those of a store, and returns the keys of the changed ones. Does not write to the
   * cache, because the server has not just confirmed these flags.
   */
  serveStored(flags: ConfiguredFlags): readonly string[] {
    return this.#configure(flags)[0];
  }

  /** Returns the keys of the changed flags, and the previous flags. */
  #configure(flags: ConfiguredFlags): readonly [changes: readonly string[], before: Flags] {
    const expired = Array.from(this.#expired, (position) => this.#flags.key(position));
    const before = this.#serve(flags);
    const known = this.#configured ? flags.changes : undefined;
    const changes = new Set(known ?? differences(before, flags));
    for (const key of expired) {
      // Reads already return the fallback of an expired flag, so nothing changes if it is gone.
      flags.find(key) < 0 ? changes.delete(key) : changes.add(key);
    }
    this.#configured = true;
    return [[...changes], before];
  }

  /** Prepares for flags of another engine, which does not know how they differ from the served ones. */
  changeEngine(): void {
    this.#configured = false;
  }

  /** Serves the flags of a snapshot; in remote mode, for this context. */
  serveSnapshot(flags: readonly SnapshotFlag[], context?: KeyedContext): void {
    this.#serve(storedFlags(flags, context));
  }

  /**
   * Records that all flags have just been confirmed. Writes them to the cache, unless it has them already: the last
   * write may have failed, and another client may have replaced them. Deletes those of `before` that are gone.
   */
  renew(before = NO_FLAGS): void {
    this.confirmedAt = performance.now();
    this.#write((cache) => {
      const source = this.#sourceOf(this.context);
      const index = readIndex(cache, source);
      if (index === undefined || index.confirmedAt !== this.#cachedAt) {
        this.#writeFlags(cache, before);
      }
      const confirmedAt = Date.now();
      this.#cachedAt = confirmedAt;
      const keys = Array.from(this.entries(), ([key]) => key);
      cache.set(INDEX_KEY, { keys, source, confirmedAt });
    });
  }

  #writeFlags(cache: Cache, before: Flags): void {
    // If the write fails, no index leads to the flags that are written.
    cache.delete(INDEX_KEY);
    for (const key of keysOf(before).filter((key) => this.#flags.find(key) < 0)) {
      cache.delete(key);
    }
    const ttls = this.#flags.ttlSeconds?.() ?? [];
    for (const [key, { evaluation, targeted }, position] of this.entries()) {
      const ttlMs = (ttls[position] ?? 0) * 1_000 || this.#defaultTtlMs;
      cache.set(key, { ...evaluation, targeted, ttlMs });
    }
  }

  /** Expires the flags at these positions, and returns their keys. */
  expire(positions: Iterable<number>): readonly string[] {
    const expired = [...positions];
    this.#revision += 1;
    this.#expired = new Set([...this.#expired, ...expired]);
    const keys = expired.map((position) => this.#flags.key(position));
    for (const key of keys) {
      this.#known.delete(key);
      this.#write((cache) => cache.delete(key));
    }
    return keys;
  }

  /** Removes all flags. */
  clear(): void {
    this.#serve(NO_FLAGS);
    this.#write((cache) => cache.clear());
  }

  /**
   * Serves the cached flags whose TTL has not expired; with `stale`, all cached flags. In remote mode, serves only
   * those for this context. Returns the remaining milliseconds of each.
   */
  restore(stale: boolean, context: KeyedContext | undefined): readonly number[] {
    const cache = this.#cache;
    const source = this.#sourceOf(context);
    const found = cache && callSafely(() => readCache(cache, source, stale), this.#onError);
    if (found === undefined || found.length === 0) {
      return this.defaultTtls();
    }
    this.#serve(storedFlags(found, context));
    return found.map(({ remainingMs }) => remainingMs);
  }

  /** Returns the remaining milliseconds of the default TTL for each flag; 0 for one that has expired. */
  defaultTtls(): readonly number[] {
    const remainingMs = Math.max(1, this.#defaultTtlMs - this.ageMs());
    return Array.from({ length: this.#flags.size }, (_, position) =>
      this.#expired.has(position) ? 0 : remainingMs,
    );
  }

  /** Returns the milliseconds since the flags were confirmed. Those of a bootstrap count as confirmed at first use. */
  ageMs(): number {
    this.confirmedAt ??= performance.now();
    return performance.now() - this.confirmedAt;
  }

  #find(key: string): FlagValue | undefined {
    // JavaScript may pass any type.
    if (typeof key !== "string" || this.#missing.has(key)) {
      return undefined;
    }
    const position = this.#flags.find(key);
    if (position < 0) {
      if (this.#missing.size < MAX_MISSING_KEYS) {
        this.#missing.add(key);
      }
      return undefined;
    }
    if (this.#expired.has(position)) {
      return undefined;
    }
    const value = this.#flags.value(position);
    this.#known.set(key, value);
    return value;
  }

  /** Returns the text that identifies the environment, and in remote mode the context, of stored flags. */
  #sourceOf(context: KeyedContext | undefined): string {
    return context === undefined ? this.#source : `${this.#source} ${context.key}`;
  }

  #serve(flags: Flags): Flags {
    const before = this.#flags;
    this.#flags = flags;
    this.#known = new Map();
    this.#missing.clear();
    this.#expired = new Set();
    this.#revision += 1;
    return before;
  }

  #write(write: (cache: Cache) => void): void {
    const cache = this.#cache;
    if (cache !== undefined) {
      callSafely(() => write(cache), this.#onError);
    }
  }
}

/**
 * Wraps the cache. Its methods should not return promises; if one does, `onError` receives the rejection. The caller
 * receives errors that the cache throws.
 */
function watched(cache: Cache, onError: (error: unknown) => void): Cache {
  const watch = <T>(result: T): T => {
    catchRejection(result, onError);
    return result;
  };
  return {
    get: (key) => watch(cache.get(key)),
    set: (key, entry) => watch(cache.set(key, entry)),
    delete: (key) => watch(cache.delete(key)),
    clear: () => watch(cache.clear()),
  };
}

interface RestoredFlag extends SnapshotFlag {
  readonly remainingMs: number;
}

/** Returns the index of the flags of this source; undefined if there is none. Any program may have written it. */
function readIndex(cache: Cache, source: string): CacheIndex | undefined {
  const index = cache.get(INDEX_KEY);
  const isValid =
    index &&
    "keys" in index &&
    Array.isArray(index.keys) &&
    index.source === source &&
    Number.isFinite(index.confirmedAt);
  return isValid ? index : undefined;
}

function readCache(cache: Cache, source: string, stale: boolean): RestoredFlag[] {
  const index = readIndex(cache, source);
  if (index === undefined) {
    return [];
  }
  const age = Math.max(0, Date.now() - index.confirmedAt);
  return index.keys.flatMap((key) => {
    const cached = cache.get(key);
    if (!isFlag(cached)) {
      return [];
    }
    const { enabled, reason, targeted, ttlMs } = cached;
    const remainingMs = stale ? Math.max(1, ttlMs - age) : ttlMs - age;
    return remainingMs >= 1 ? [{ key, enabled, reason, targeted, remainingMs }] : [];
  });
}

/**
 * Returns the keys of the flags that are not in both lists, or that may differ; empty if no flags were served before.
 */
function differences(before: Flags, after: Flags): readonly string[] {
  if (before === NO_FLAGS) {
    return [];
  }
  const value = (flags: Flags, key: string) => {
    const position = flags.find(key);
    return position < 0 ? undefined : flags.value(position);
  };
  const keys = new Set([...keysOf(before), ...keysOf(after)]);
  return [...keys].filter((key) => {
    const [one, other] = [value(before, key), value(after, key)];
    return !one || !other || one.targeted || other.targeted || one.evaluation !== other.evaluation;
  });
}

function keysOf(flags: Flags): string[] {
  return Array.from({ length: flags.size }, (_, position) => flags.key(position));
}

/** Returns true if the entry is a flag. Any program may have written to the cache. */
function isFlag(entry: unknown): entry is CachedFlag {
  const flag = (entry ?? {}) as Partial<Record<keyof CachedFlag, unknown>>;
  return (
    typeof flag.enabled === "boolean" &&
    typeof flag.reason === "string" &&
    typeof flag.targeted === "boolean" &&
    typeof flag.ttlMs === "number"
  );
}
