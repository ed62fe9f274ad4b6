import type { Reason } from "./evaluation.js";

/**
 * Storage for flags, from which `initialize()` starts if the server cannot be reached. A cache is synchronous and
 * holds plain JSON values, so a `Map` works. Reads always come from memory; the client writes new flags to the cache,
 * and the index whenever the server confirms them. Only one client at a time may use a cache.
 */
export interface Cache {
  get(key: string): CacheEntry | null | undefined;
  set(key: string, entry: CacheEntry): unknown;
  delete(key: string): unknown;
  clear(): unknown;
}

export type CacheEntry = CachedFlag | CacheIndex;

/** The entry under the key of a flag: its evaluation without a context. */
export interface CachedFlag {
  readonly enabled: boolean;
  readonly reason: Reason;
  /** True if the flag has rules or a rollout, so that attributes can change its evaluation. */
  readonly targeted: boolean;
  /** The time for which the flag may be served after `confirmedAt` of the index, in milliseconds. */
  readonly ttlMs: number;
}

/** The entry under {@link INDEX_KEY}. */
export interface CacheIndex {
  readonly keys: readonly string[];
  /**
   * The environment of the flags: the public prefix of its SDK key, and the address of the server. A client of another
   * environment ignores them.
   */
  readonly source: string;
  /** The time at which the server last confirmed these flags, in milliseconds since 1970. */
  readonly confirmedAt: number;
}

/** The key of the index. No flag can have it: flag keys begin with a letter, a digit or an underscore. */
export const INDEX_KEY = ":index";
