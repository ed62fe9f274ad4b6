/**
 * Storage for the config document, including rules. `initialize()` starts from it if the server cannot be reached.
 * Unlike a `Cache`, a store keeps its content at `shutdown()`, and the client can evaluate every context from it.
 */
export interface Store {
  /** The maximum age of a document, in seconds since the server confirmed it. */
  readonly maxAgeSeconds: number;
  /** Returns the text that was saved last, or null or undefined if there is none. */
  load(): string | null | undefined;
  /** Replaces the saved text, now or later. It may return a promise. */
  save(text: string): unknown;
}

export interface StoreOptions {
  /** The maximum age of a document, in seconds since the server confirmed it. Default 86400, which is a day. */
  readonly maxAgeSeconds?: number | undefined;
}

/** The default of `maxAgeSeconds`: a day. */
export const DEFAULT_MAX_AGE_SECONDS = 86_400;

/**
 * Stores the config document of a page in `localStorage`, under this key. Everyone who uses the browser can read it, as
 * they can the SDK key. Outside a page it stores nothing.
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
