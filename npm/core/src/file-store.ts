import { readFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { DEFAULT_MAX_AGE_SECONDS, type Store, type StoreOptions } from "./store.js";

export type { Store, StoreOptions } from "./store.js";

/**
 * Stores the config document in a file that only its owner can read and write (mode 0600). The file is replaced
 * atomically: a process that is killed while it saves leaves the file as it was. The folder must exist. Several
 * processes can share a file.
 */
export function fileStore(
  path: string,
  { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS }: StoreOptions = {},
): Store {
  let saving = Promise.resolve();
  let waiting: string | undefined;
  return {
    maxAgeSeconds,
    load() {
      try {
        return readFileSync(path, "utf8");
      } catch (error) {
        if ((error as { readonly code?: unknown }).code === "ENOENT") {
          return undefined;
        }
        throw error;
      }
    },
    save(text) {
      const isFirst = waiting === undefined;
      waiting = text;
      if (isFirst) {
        // One save at a time; of the waiting texts, only the newest is saved.
        saving = saving
          .catch(() => {})
          .then(() => {
            const newest = waiting ?? text;
            waiting = undefined;
            return replace(path, newest);
          });
      }
      return saving;
    },
  };
}

/** Writes a temporary file beside this one and renames it, so that the file is complete at every moment. */
async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
