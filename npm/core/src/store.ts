/**
 * A place for the config document, rules included, from which `initialize()` starts when the service cannot be reached. Other
 * than a `Cache` it is kept at `shutdown()`, and answers for every context.
 */
export interface Store {
  /** How old a document may be, in seconds since the service confirmed it. */
  readonly maxAgeSeconds: number;
  /** Returns the text that was saved last, or null or undefined if there is none. */
  load(): string | null | undefined;
  /** Saves a text in place of the one before, now or later: what it returns may be a promise. */
  save(text: string): unknown;
}

export interface StoreOptions {
  /** How old a document may be, in seconds since the service confirmed it. Default 86400, which is a day. */
  readonly maxAgeSeconds?: number | undefined;
}

/** A day. */
export const DEFAULT_MAX_AGE_SECONDS = 86_400;

/**
 * Stores the config document of a page in `localStorage`, under this key. Everybody at that browser can read it, as they can
 * the SDK key. Outside of a page it stores nothing.
 */
export function localStorageStore(
  key = "pennon-config",
  { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS }: StoreOptions = {},
): Store {
  return {
    maxAgeSeconds,
    load: () => globalThis.localStorage?.getItem(key),
    save: (text) => globalThis.localStorage?.setItem(key, text),
  };
}
