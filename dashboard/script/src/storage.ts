/** A storage of the browser, which may be disabled: for all tabs, or for this tab. */
type StorageName = "localStorage" | "sessionStorage";

/** Returns an item of a storage, if there is one. */
export function readItem(storage: StorageName, key: string): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Writes an item of a storage, or removes it. Does nothing if the storage is disabled or full. */
export function writeItem(storage: StorageName, key: string, value: string | null): void {
  try {
    if (value === null) {
      window[storage].removeItem(key);
    } else {
      window[storage].setItem(key, value);
    }
  } catch {}
}
