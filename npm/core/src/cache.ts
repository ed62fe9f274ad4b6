import type { Reason } from "./evaluation.js";

/**
 * A second place to keep flags in, from which `initialize()` starts when the service cannot be reached. It is synchronous
 * and holds plain values, which may be stored as JSON; a `Map` will do. Reads never wait for it: they are answered from
 * memory, and every change is written through. One cache belongs to one client at a time.
 */
export interface Cache {
  get(key: string): CacheEntry | null | undefined;
  set(key: string, entry: CacheEntry): unknown;
  delete(key: string): unknown;
  clear(): unknown;
}

export type CacheEntry = CachedFlag | CacheIndex;

/** What is stored under the key of a flag: its evaluation for nobody in particular. */
export interface CachedFlag {
  readonly enabled: boolean;
  readonly reason: Reason;
  /** Whether it has rules or a rollout, so that a subject's attributes could matter. */
  readonly targeted: boolean;
  /** How long it may be served after `confirmedAt` of the index, in milliseconds. */
  readonly ttlMs: number;
}

/** What is stored under {@link INDEX_KEY}. */
export interface CacheIndex {
  readonly keys: readonly string[];
  /**
   * The environment that the flags are of: the public prefix of its SDK key, and the address of the service. A client of
   * another environment does not start from them.
   */
  readonly source: string;
  /** When the service last confirmed these flags, in milliseconds since 1970. */
  readonly confirmedAt: number;
}

/** No flag can have this key: keys begin with a letter, a digit or an underscore. */
export const INDEX_KEY = ":index";
